package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme runs every command of the README as it stands there, but for the
// building.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, line := range []string{`go run ./cmd/memsearch recall --vault examples/vault "where does production run?"`, "go test ./..."} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("README lacks the line %s", line)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, err := range []error{os.Symlink(self, filepath.Join(dir, "memsearch")), os.CopyFS(filepath.Join(dir, "examples", "vault"), os.DirFS(filepath.Join(root, "examples", "vault")))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	os.RemoveAll(filepath.Join(dir, "examples", "vault", ".memsearch"))
	want := map[string]string{ // what the answer must say
		"用户对什么过敏":              "花生",
		"which food":           "花生",
		"2026-01-15":           "us-east-1",
		"yesterday":            "2026-11-27",
		"undo a release":       "deployctl revert",
		"CVE-2024-31497":       "ssh agent",
		"memsearch remember":   "remembered mem_",
		"memsearch list":       "Helix",
		"memsearch doctor":     "no-id",
		"memsearch check":      "clean",
		"where does product":   "eu-central-1",
		"recall --explain \"C": "= exact",
	}
	ran := 0
	for block := range strings.SplitSeq(text, "```sh\n") {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.SplitSeq(block, "\n") {
			line = strings.Replace(line, "go run ./cmd/memsearch", "./memsearch", 1)
			if !strings.HasPrefix(line, "./memsearch ") {
				continue
			}
			ran++
			c := exec.Command("sh", "-c", line)
			c.Dir = dir
			c.Env = []string{"HOME=" + dir, "GOCOVERDIR=" + coverDir(t), "PATH=" + os.Getenv("PATH"), "MEMSEARCH_VAULT=" + filepath.Join(dir, "examples", "vault")}
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
			for k, v := range want {
				if strings.Contains(line, k) && !strings.Contains(string(out), v) && !(k == "where does product" && strings.Contains(line, "--as-of")) {
					t.Errorf("%s prints no %q:\n%s", line, v, out)
				}
			}
		}
	}
	if ran < 10 {
		t.Errorf("ran %d commands of the README", ran)
	}
}
