package replay

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// strict decodes a mapping into the struct that into points to and refuses keys
// that it has no field for; extra keys are read elsewhere. The decoder of the
// library forgets to be strict inside types that decode themselves.
func strict(n *yaml.Node, what string, into any, extra ...string) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: %s must be a mapping", n.Line, what)
	}
	known := slices.Clone(extra)
	for f := range reflect.TypeOf(into).Elem().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name != "" && name != "-" {
			known = append(known, name)
		}
	}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if !slices.Contains(known, key.Value) {
			slices.Sort(known)
			return fmt.Errorf("line %d: unknown key %q in %s (known: %s)", key.Line, key.Value, what, strings.Join(known, ", "))
		}
		// The decoder drops empty items of a list, but those of a check's JSON value
		// are meant.
		for _, item := range n.Content[i+1].Content {
			if n.Content[i+1].Kind == yaml.SequenceNode && item.Tag == "!!null" && key.Value != "value" {
				return fmt.Errorf("line %d: an item of %s is empty", item.Line, key.Value)
			}
		}
	}
	return n.Decode(into)
}
