package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memsearch/memsearch/core/config"
)

func write(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPrecedence(t *testing.T) {
	o := config.Options{
		UserDir:  write(t, "k: 3\nmodel: none\nzone: Asia/Shanghai\nsync_budget: 2s\n"),
		VaultDir: write(t, "# comment\nk: 4\nmemory:\n  idle_seconds: 5\n"),
		Getenv:   func(k string) string { return map[string]string{"MEMSEARCH_K": "5"}[k] },
	}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	if c.K != 5 || c.Model != "none" || c.Zone.String() != "Asia/Shanghai" || c.SyncBudget != 2*time.Second || c.Budget != 2000 {
		t.Errorf("got %+v", c)
	}
	o.Flags = map[string]string{"k": "6"}
	if c, err = config.Load(o); err != nil || c.K != 6 {
		t.Errorf("flag: k = %d, %v", c.K, err)
	}
	for _, e := range c.Entries() {
		want := map[string]string{"k": "flag", "model": ":2", "memory.idle_seconds": ":4", "mode": "default"}[e.Key]
		if !strings.HasSuffix(e.Source, want) {
			t.Errorf("%s comes from %q, want %q", e.Key, e.Source, want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"modell: none\n", `did you mean "model"`},
		{"memory:\n  idle_second: 3\n", `did you mean "memory.idle_seconds"`},
		{"zzzz: 1\n", `unknown setting "zzzz"`},
		{"k: 0\n", "less than 1"},
		{"k: many\n", "whole number"},
		{"k: [1]\n", "single value"},
		{"mode: maybe\n", "none of off"},
		{"zone: Local\n", "named zone"},
		{"zone: Mars/Olympus\n", "zone"},
		{"base_url: ftp://x\n", "http"},
		{"base_url: https://u:p@host/v1\n", "password"},
		{"api_key_env: sk-abc\n", "not a key"},
		{"inject_threshold: 2\n", "0 to 1"},
		{"timeout: soon\n", "duration"},
		{"- a\n", "key: value"},
		{"k: {\n", "yaml"},
	} {
		_, err := config.Load(config.Options{VaultDir: write(t, tt.text)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q in it", tt.text, err, tt.want)
		}
	}
	_, err := config.Load(config.Options{VaultDir: write(t, "modle: none\nk: 0\n")})
	if _, ok := errors.AsType[*config.UnknownKeyError](err); !ok || !strings.Contains(err.Error(), "less than 1") {
		t.Errorf("both problems should be reported, got %v", err)
	}
}

func TestOff(t *testing.T) {
	c, err := config.Load(config.Options{VaultDir: write(t, "memory:\n  enabled: false\n")})
	if err != nil || c.Mode != "off" {
		t.Errorf("mode %q, %v", c.Mode, err)
	}
	if e := c.Entries()[0]; e.Key != "mode" || e.Value != "off" || !strings.HasSuffix(e.Source, ":2") {
		t.Errorf("shown as %+v, want off, from the second line", e)
	}
	if c, err = config.Load(config.Options{VaultDir: t.TempDir()}); err != nil || c.Model != "static" {
		t.Errorf("no file: %+v, %v", c, err)
	}
}

// TestHint: two letters that changed places are one slip, and a name of the same
// length is the likelier one.
func TestHint(t *testing.T) {
	for key, want := range map[string]string{
		"modle":    "model",
		"zoen":     "zone",
		"bacth":    "batch",
		"time_out": "timeout",
		"xyzzy":    "",
	} {
		_, err := config.Load(config.Options{VaultDir: write(t, key+": 1\n")})
		unknown, ok := errors.AsType[*config.UnknownKeyError](err)
		if !ok || unknown.Hint != want {
			t.Errorf("%s: %v, want the hint %q", key, err, want)
		}
	}
}

// TestKeyOfServer: a server that is named without a key gets none, unless it is the
// one that would be asked anyway.
func TestKeyOfServer(t *testing.T) {
	for text, want := range map[string]string{
		"model: m\n":                "OPENAI_API_KEY",
		"base_url: http://one/v1\n": "",
		"base_url: http://one/v1\napi_key_env: ONE\n":      "ONE",
		"base_url: http://one/v1\napi_key_env: ''\n":       "",
		"api_key_env: ''\n":                                "",
		"base_url: https://api.openai.com/v1\nmodel: m\n":  "OPENAI_API_KEY",
		"base_url: https://api.openai.com/v1/\nmodel: m\n": "OPENAI_API_KEY",
		"base_url: https://api.openai.com/v1.evil/\n":      "",
	} {
		c, err := config.Load(config.Options{VaultDir: write(t, text)})
		if err != nil || c.APIKeyEnv != want {
			t.Errorf("%q: %q, %v; want %q", text, c.APIKeyEnv, err, want)
		}
		for _, e := range c.Entries() {
			if e.Key == "api_key_env" && e.Value != want {
				t.Errorf("%q: shown as %q, want %q", text, e.Value, want)
			}
		}
	}
}

func TestUnread(t *testing.T) {
	got := config.Unread([]string{"MEMSEARCH_K=3", "MEMSEARCH_PROFILES_MIAN_MODEL=m", "HOME=/x", "MEMSEARCH_LLM_DAY_CALLS=1", "MEMSEARCH_RERANK_MODEL="})
	if want := []string{"MEMSEARCH_PROFILES_MIAN_MODEL", "MEMSEARCH_RERANK_MODEL"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
