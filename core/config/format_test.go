package config_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/memsearch/memsearch/core/config"
)

// The table in docs/format.md lists every setting as it is.
func TestFormatDocument(t *testing.T) {
	doc, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(doc), "\n## memsearch.yaml\n")
	if !ok {
		t.Fatal("docs/format.md says nothing of memsearch.yaml")
	}
	c, err := config.Load(config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Entries() {
		name := e.Key
		if rest, ok := strings.CutPrefix(name, "profiles."); ok { // the same fields for each
			_, field, _ := strings.Cut(rest, ".")
			name = "profiles.<name>." + field
		}
		key := fmt.Sprintf("\n| `%s` | ", name)
		_, row, ok := strings.Cut(table, key)
		row, _, _ = strings.Cut(row, "\n")
		if !ok || !strings.HasSuffix(row, " | "+e.Help+" |") {
			t.Errorf("docs/format.md says of %s: %q, want %q", e.Key, row, e.Help)
		}
	}
}

// The settings that docs/format.md gives as an example are taken.
func TestFormatExample(t *testing.T) {
	doc, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "```yaml\nprofiles:\n")
	text, _, ok := strings.Cut(text, "```")
	if !ok {
		t.Fatal("docs/format.md has no example of profiles")
	}
	c, err := config.Load(config.Options{VaultDir: write(t, "profiles:\n"+text)})
	if err != nil {
		t.Fatal(err)
	}
	local, err := c.Profile("rerank")
	if err != nil || local.BaseURL != "http://localhost:11434/v1" || local.APIKeyEnv != "" || c.Caps.DayCalls != 500 {
		t.Errorf("rerank is %+v, %v; %d calls a day", local, err, c.Caps.DayCalls)
	}
	judge, err := c.Profile("judge")
	if err != nil || judge.APIKeyEnv != "OPENAI_API_KEY" || judge.Model != "gpt-5-mini" {
		t.Errorf("judge is %+v, %v", judge, err)
	}
}
