package rerank_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/rerank"
)

// Every prompt that is shipped can be read, and says what its version changed.
func TestPrompts(t *testing.T) {
	files, err := filepath.Glob("prompts/*.md")
	if err != nil || len(files) < 3 {
		t.Fatalf("prompts %v, %v", files, err)
	}
	hashes := map[string]bool{}
	for _, file := range files {
		ref := strings.TrimSuffix(filepath.Base(file), ".md")
		p, err := rerank.LoadPrompt(ref)
		if err != nil {
			t.Fatal(err)
		}
		if p.Description == "" || len(p.Changelog) != p.Version || hashes[p.Hash] {
			t.Errorf("%s: description %q, changelog %q, hash %q", ref, p.Description, p.Changelog, p.Hash)
		}
		hashes[p.Hash] = true
		same, err := rerank.LoadPrompt(file)
		if err != nil || same.ID() != p.ID() {
			t.Errorf("%s is %v from its file, %v", ref, same, err)
		}
	}
	if p, err := rerank.LoadPrompt(""); err != nil || p.Label() != rerank.DefaultPrompt {
		t.Errorf("default %v, %v", p, err)
	}
	for ref, want := range map[string]string{
		"rerank@9":   "there are rerank@1, rerank@2, select@1",
		"rerank":     "there are rerank@1, rerank@2, select@1",
		"missing.md": "missing.md",
	} {
		if _, err := rerank.LoadPrompt(ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("LoadPrompt(%q): error %v, want one with %q", ref, err, want)
		}
	}
}

// A prompt of the user's own is named in the answer; one that shows no candidates
// is an error, not a model asked about nothing.
func TestPromptOfUser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.md")
	const head = "---\nname: mine\nversion: 7\n---\n# System\nRank.\n# User\n"
	for body, want := range map[string]string{
		"{{.Candidates}}\nQ: {{.Query}}":                          "",
		"Q: {{.Query}}":                                           "does not show the candidates",
		"{{.Candidates}} {{.Nothing}}":                            "Nothing",
		"{{.Candidates}}" + strings.Repeat(" a long story", 5000): rerank.ErrBudget.Error(),
	} {
		if err := os.WriteFile(file, []byte(head+body), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := rerank.LoadPrompt(file)
		if err != nil {
			t.Fatal(err)
		}
		f := says(goodReply)
		a, err := rerank.NewListwise(f, &rerank.ListwiseOptions{Prompt: p}).Rerank(t.Context(), task(3))
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) || f.calls() != 0 {
				t.Errorf("%.40q: error %v, want one with %q", body, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%.40q: %v", body, err)
			continue
		}
		if !strings.HasPrefix(a.Prompt, "mine@7 ") || !cmp.Equal(goodPicks, a.Picks) || f.asked[0].Prompt != "mine@7" {
			t.Errorf("%.40q: answer %+v", body, a)
		}
	}
}

// The two rerank prompts differ in what they say, not in what they show.
func TestPromptVersionsShowTheSame(t *testing.T) {
	one, two := promptOf(t, "rerank@1", task(3)), promptOf(t, "rerank@2", task(3))
	if one.Messages[0].Content == two.Messages[0].Content {
		t.Error("both versions say the same")
	}
	if a, b := shownTexts(t, one), shownTexts(t, two); !slices.Equal(a, b) {
		t.Errorf("shown %q and %q", a, b)
	}
}
