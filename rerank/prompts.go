package rerank

import (
	"cmp"
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/memsearch/memsearch/internal/prompt"
)

// The prompts that are used when none is named.
const (
	DefaultPrompt       = "rerank@1"
	DefaultSelectPrompt = "select@1"
)

//go:embed prompts/*.md
var prompts embed.FS

// Prompts lists our prompts called name, each as "name@version".
func Prompts(name string) []string {
	files, _ := fs.Glob(prompts, "prompts/"+name+"@*.md") // a name that is no pattern has none
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".md")
	}
	return files
}

// LoadPrompt returns the prompt that ref names: "name@version" for one of ours,
// the path of a .md file for one of the user's, empty for [DefaultPrompt].
func LoadPrompt(ref string) (*prompt.Prompt, error) {
	ref = cmp.Or(ref, DefaultPrompt)
	if strings.HasSuffix(strings.ToLower(ref), ".md") {
		return prompt.LoadFile(ref)
	}
	dir, err := fs.Sub(prompts, "prompts")
	if err != nil {
		return nil, err
	}
	return prompt.Load(dir, ref)
}
