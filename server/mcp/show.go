package mcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/escape"
)

// A showInput names a memory.
type showInput struct {
	ID string `json:"id" jsonschema:"id or path of a memory, as recall gives it"`
}

func (h *handler) show(ctx context.Context, _ *sdk.CallToolRequest, in showInput) (*sdk.CallToolResult, any, error) {
	m, done, err := h.use(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	it, err := find(ctx, m, strings.TrimSpace(in.ID))
	if err != nil {
		return nil, nil, err
	}
	return text(block(it)), nil, nil
}

// lines ends a path in a recall.
var lines = regexp.MustCompile(`:\d+-\d+$`)

// find returns the memory that has the name: an id or a path, as a recall writes
// them. With several scopes that of a memory may stand in front, as in user/ID and
// user:notes.md:3-7.
func find(ctx context.Context, m *core.Memory, name string) (*core.Item, error) {
	it, err := m.Show(ctx, name)
	if two, ok := errors.AsType[*core.AmbiguousError](err); ok {
		names := make([]string, len(two.Scopes))
		for i, scope := range two.Scopes {
			names[i] = scope + "/" + name
		}
		return nil, severalError(names)
	}
	if !errors.Is(err, core.ErrNotFound) {
		return it, err
	}
	if scope, id, ok := strings.Cut(name, "/"); ok {
		if it, err := inScope(ctx, m, scope, id); !errors.Is(err, core.ErrNotFound) {
			return it, err
		}
	}
	all, err := m.List(ctx, core.ListOptions{})
	if err != nil {
		return nil, err
	}
	path := lines.ReplaceAllString(name, "")
	var found *core.Item
	var names []string
	for i := range all {
		if full := all[i].Scope + ":" + all[i].Path; path == all[i].Path || path == full {
			found = &all[i]
			names = append(names, full)
		}
	}
	switch len(names) {
	case 0:
		return nil, fmt.Errorf("no memory has the id or path %.100q; recall gives them", name)
	case 1:
		return inScope(ctx, m, found.Scope, found.ID)
	}
	return nil, severalError(names)
}

// inScope returns the memory that has an id in the scope. A scope that there is not has
// none.
func inScope(ctx context.Context, m *core.Memory, scope, id string) (*core.Item, error) {
	m, err := m.In(scope)
	if errors.Is(err, core.ErrNoScope) {
		return nil, core.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return m.Show(ctx, id)
}

func severalError(names []string) error {
	return fmt.Errorf("several memories have this name: ask for %s", strings.Join(names, " or "))
}

// maxShown bounds what show returns of a memory, in bytes.
const maxShown = 32 << 10

// block writes a whole memory for a model. Its text can neither close the block nor
// speak for a role.
func block(it *core.Item) string {
	state := "current"
	if !it.Current {
		state = "not current"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<memory id="%s" path="%s" status="%s" state="%s"`, escape.Attribute(it.ID), escape.Attribute(it.Path), it.Status, state)
	for _, l := range []struct {
		name string
		ids  []string
	}{{"supersedes", it.Supersedes}, {"superseded_by", it.SupersededBy}} {
		if len(l.ids) > 0 {
			fmt.Fprintf(&b, ` %s="%s"`, l.name, escape.Attribute(strings.Join(l.ids, ",")))
		}
	}
	body, cut := it.Text, ""
	if len(body) > maxShown {
		body, cut = strings.ToValidUTF8(body[:maxShown], ""), "\n(cut here: recall finds what stands further down)"
	}
	fmt.Fprintf(&b, ">\n%s%s\n</memory>", strings.TrimRight(escape.Roles(escape.Text(body)), "\n"), cut)
	return b.String()
}
