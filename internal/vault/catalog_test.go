//go:build unix

package vault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

const (
	begin = memfile.CatalogBegin
	end   = memfile.CatalogEnd
)

func refresh(t *testing.T, dir string) string {
	t.Helper()
	if err := writer(t, dir, options()).RefreshCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	return tree(t, dir)["MEMORY.md"]
}

func TestCatalogContent(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{
		"old.md":           "---\ncreated_at: 2026-01-01\nsummary: Old news\n---\nx\n",
		"new.md":           "---\ncreated_at: 2026-03-01\nsummary: New [news]\ncatalog: Curated line\n---\nx\n",
		"a b (c) #1 好.md":  "---\ncreated_at: 2026-02-01\n---\n# A heading\n",
		"undated.md":       "no heading\n",
		"hidden.md":        "---\ncatalog: false\n---\nx\n",
		"candidate.md":     "---\nstatus: candidate\n---\nx\n",
		"retired.md":       "---\nstatus: retired\n---\nx\n",
		"expired.md":       "---\nvalid_to: 2026-11-29\n---\nx\n",
		"future.md":        "---\nvalid_from: 2026-11-30\n---\nx\n",
		"over.md":          "---\nid: over\n---\nx\n",
		"over-by.md":       "---\nid: by\nsupersedes: [over]\nsummary: Takes its place [x]\n---\nx\n",
		"sub/MEMORY.md":    "# Other\n",
		"archive/b-old.md": "---\ncreated_at: 2026-01-01\nsummary: " + strings.Repeat("w", 160) + "\n---\nx\n",
	})
	want := strings.Join([]string{begin,
		"- [Curated line](new.md)",
		"- [A heading](a%20b%20%28c%29%20%231%20好.md)",
		"- [" + strings.Repeat("w", 149) + "…](archive/b-old.md)",
		"- [Old news](old.md)",
		`- [Takes its place \[x\]](over-by.md)`,
		"- [undated](undated.md)",
		end}, "\n") + "\n"
	if diff := cmp.Diff(want, refresh(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Every line of ours is one that a reader passes over.
	f := memfile.Parse("MEMORY.md", []byte(want), &memfile.Options{InVault: func(string) bool { return false }})
	if len(f.Units) > 0 && strings.TrimSpace(f.Units[0].Text) != "" && f.Skip == "" {
		t.Errorf("the catalog would be indexed: %+v", f.Units)
	}
}

// What stands outside the markers stays, whatever it is.
func TestCatalogKeepsTheRest(t *testing.T) {
	block := begin + "\n- [a](a.md)\n" + end
	crlf := strings.ReplaceAll(block, "\n", "\r\n")
	for name, tt := range map[string]struct{ before, after string }{
		"empty":            {"", block + "\n"},
		"text":             {"mine\n", "mine\n\n" + block + "\n"},
		"no line end":      {"mine", "mine\n\n" + block + "\n"},
		"blank line":       {"mine\n\n", "mine\n\n" + block + "\n"},
		"CRLF":             {"mine\r\nother\r\n", "mine\r\nother\r\n\r\n" + crlf + "\r\n"},
		"stale block":      {"top\n" + begin + "\nold\n" + end + "\nbottom", "top\n" + block + "\nbottom"},
		"indented markers": {"top\n  " + begin + "\nold\n\t" + end + "  \nbottom\n", "top\n  " + block + "  \nbottom\n"},
		"stale CRLF block": {"top\r\n" + begin + "\r\nold\r\n" + end + "\r\n", "top\r\n" + crlf + "\r\n"},
		"two blocks":       {begin + "\n1\n" + end + "\nmid\n" + begin + "\n2\n" + end + "\n", block + "\nmid\n\n"},
		"never closed":     {"a\n" + begin + "\nmine\n", "a\n" + begin + "\nmine\n\n" + block + "\n"},
		"closed only":      {"a\n" + end + "\nmine\n", "a\n" + end + "\nmine\n\n" + block + "\n"},
		"marker in a line": {"see " + begin + " and " + end + "\n", "see " + begin + " and " + end + "\n\n" + block + "\n"},
		"up to date":       {"x\n" + block, "x\n" + block},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, map[string]string{"a.md": "---\nsummary: a\n---\n", "MEMORY.md": tt.before})
			v := open(t, dir, options())
			if got := refresh(t, dir); got != tt.after {
				t.Errorf("got\n%q, want\n%q", got, tt.after)
			}
			if again := refresh(t, dir); again != tt.after {
				t.Errorf("a second refresh changed it to %q", again)
			}
			if stale, err := v.CatalogStale(t.Context()); stale || err != nil {
				t.Errorf("stale after a refresh: %v, %v", stale, err)
			}
			fill(t, dir, map[string]string{"b.md": "b"})
			if stale, err := v.CatalogStale(t.Context()); !stale || err != nil {
				t.Errorf("stale after a change: %v, %v; want true", stale, err)
			}
		})
	}
}

func TestCatalogNotText(t *testing.T) {
	for name, text := range map[string]string{"UTF-16": "\xff\xfea\x00", "Latin-1": "caf\xe9"} {
		dir := t.TempDir()
		fill(t, dir, map[string]string{"MEMORY.md": text})
		w := writer(t, dir, options())
		if err := w.RefreshCatalog(t.Context()); err == nil {
			t.Errorf("%s: refreshed", name)
		}
		if _, err := w.Create(t.Context(), fact("s", "b")); err != nil { // it can still be written to
			t.Errorf("%s: %v", name, err)
		}
		if got := tree(t, dir)["MEMORY.md"]; got != text {
			t.Errorf("%s: now %q", name, got)
		}
	}
}

func TestCatalogWithoutOne(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{"a.md": "a"})
	v := open(t, dir, options())
	if stale, err := v.CatalogStale(t.Context()); stale || err != nil {
		t.Errorf("no MEMORY.md: %v, %v", stale, err)
	}
	fill(t, dir, map[string]string{"MEMORY.md": "mine"})
	if stale, err := v.CatalogStale(t.Context()); stale || err != nil {
		t.Errorf("no block: %v, %v", stale, err)
	}
	if got, _ := os.ReadDir(dir); len(got) != 2 {
		t.Errorf("asking changed the vault: %v", got)
	}
}

func TestCatalogLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		n, width int
		last     string // of the block, before the end marker
	}{
		"all fit":        {198, 1, "- [x000](x000.md)"},
		"too many lines": {199, 1, "- … and 2 older memories that are not listed here"},
		"far too many":   {300, 1, "- … and 103 older memories that are not listed here"},
		"too many bytes": {190, 140, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{}
			for i := range tt.n {
				created := time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC).Format(time.RFC3339)
				id := fmt.Sprintf("x%03d", i)
				files[id+".md"] = "---\ncreated_at: " + created + "\nsummary: " + id + strings.Repeat("y", tt.width-1) + "\n---\n"
			}
			fill(t, dir, files)
			got := strings.Split(strings.TrimSuffix(refresh(t, dir), "\n"), "\n")
			bytes := len(strings.Join(got, "\r\n"))
			if len(got) > vault.CatalogLines || bytes > vault.CatalogBytes {
				t.Errorf("%d lines, %d bytes", len(got), bytes)
			}
			last := got[len(got)-2]
			if tt.last == "" {
				listed := len(got) - 3
				tt.last = fmt.Sprintf("- … and %d older memories that are not listed here", tt.n-listed)
				if vault.CatalogBytes-bytes > 200 {
					t.Errorf("only %d of %d bytes used", bytes, vault.CatalogBytes)
				}
			}
			if last != tt.last {
				t.Errorf("last line %q, want %q", last, tt.last)
			}
			if first := got[1]; !strings.HasPrefix(first, fmt.Sprintf("- [x%03d", tt.n-1)) {
				t.Errorf("first line %q is not the newest", first)
			}
		})
	}
}

func TestExportSkill(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{
		"a/b.md":     "---\ncreated_at: 2026-01-01\nsummary: Where it \"runs\"\n---\nb\n",
		"retired.md": "---\nstatus: retired\n---\nx\n",
		"MEMORY.md":  "---\ncatalog: false\n---\nmine\n",
	})
	to := filepath.Join(t.TempDir(), "team-memory")
	v := open(t, dir, options())
	for range 2 { // the second writes over the first
		if n, err := v.ExportSkill(t.Context(), to); err != nil || n != 2 {
			t.Fatal(n, err)
		}
	}
	got := tree(t, to)
	head, rest, _ := strings.Cut(got["SKILL.md"], "---\n<!--")
	want := "---\nname: team-memory\ndescription: \"2 notes from earlier work. Use when the task may rest on past decisions, " +
		"preferences, facts or procedures, such as: Where it 'runs'.\"\n"
	if diff := cmp.Diff(want, head); diff != "" {
		t.Errorf("front matter (-want +got):\n%s", diff)
	}
	if !strings.Contains(rest, "- [Where it \"runs\"](references/a/b.md)\n") {
		t.Errorf("SKILL.md: %s", rest)
	}
	delete(got, "SKILL.md")
	source := tree(t, dir)
	copies := map[string]string{"references/a/b.md": source["a/b.md"], "references/MEMORY.md": source["MEMORY.md"]}
	if diff := cmp.Diff(copies, got); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}

	for _, bad := range []string{"Team", "a_b", "-a", "a--b", "a-", strings.Repeat("a", 65), "好"} {
		if _, err := v.ExportSkill(t.Context(), filepath.Join(t.TempDir(), bad)); err == nil {
			t.Errorf("a skill named %q", bad)
		}
	}
	taken := filepath.Join(t.TempDir(), "taken")
	fill(t, taken, map[string]string{"x": "mine"})
	if _, err := v.ExportSkill(t.Context(), taken); !errors.Is(err, vault.ErrNotEmpty) {
		t.Errorf("got %v, want %v", err, vault.ErrNotEmpty)
	}
}

// TestExportSkillLeavesTheCatalogOut: a MEMORY.md that only lists the others is no
// note.
func TestExportSkillLeavesTheCatalogOut(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{
		"plain.md":  "The heron stands.\n",
		"empty.md":  "",
		"MEMORY.md": memfile.CatalogBegin + "\n- [plain](plain.md)\n" + memfile.CatalogEnd + "\n",
	})
	to := filepath.Join(t.TempDir(), "notes")
	if n, err := open(t, dir, options()).ExportSkill(t.Context(), to); n != 1 || err != nil {
		t.Errorf("%d notes, %v; want 1", n, err)
	}
	got := tree(t, to)
	if !strings.Contains(got["SKILL.md"], "description: \"1 note from") {
		t.Errorf("SKILL.md: %s", got["SKILL.md"])
	}
	delete(got, "SKILL.md")
	if diff := cmp.Diff(map[string]string{"references/plain.md": "The heron stands.\n"}, got); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}
}

func TestExportSkillIntoTheVault(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{"a.md": "a\n"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	v := open(t, dir, options())
	for _, to := range []string{"skill", "deep/below/skill"} {
		for _, root := range []string{dir, link} {
			if _, err := v.ExportSkill(t.Context(), filepath.Join(root, to)); !errors.Is(err, vault.ErrInVault) {
				t.Errorf("export to %s: %v", to, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "skill")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused export left a folder: %v", err)
	}
	if n, err := v.ExportSkill(t.Context(), filepath.Join(dir, ".agents/skills/notes")); n != 1 || err != nil {
		t.Errorf("export to a hidden folder: %d, %v", n, err)
	}
}

func TestSkillDescriptionFits(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("%d.md", i)] = "---\nsummary: " + strings.Repeat("好", 100) + "\n---\n"
	}
	fill(t, dir, files)
	to := filepath.Join(t.TempDir(), "s")
	if _, err := open(t, dir, options()).ExportSkill(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	line := strings.Split(tree(t, to)["SKILL.md"], "\n")[2]
	if n := len([]rune(strings.TrimPrefix(line, "description: "))); n > 1024 {
		t.Errorf("the description has %d characters", n)
	}
}
