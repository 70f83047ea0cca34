package llm_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/llm"
)

func TestInherit(t *testing.T) {
	warm, cold, two, none, yes, no := .7, 0.0, 2, 0, true, false
	main := llm.Profile{Name: "main", BaseURL: "http://a/v1", APIKeyEnv: "A_KEY", Model: "big", ContextWindow: 1000, MaxOutput: 100,
		Temperature: &warm, Timeout: time.Second, Retries: &two, PriceIn: new(3.0), PriceOut: new(4.0), Structured: "object", Stream: &yes}
	all := main
	all.Name = "rerank"
	if d := cmp.Diff(all, llm.Profile{Name: "rerank"}.Inherit(main)); d != "" {
		t.Errorf("nothing set (-want +got):\n%s", d)
	}
	mine := llm.Profile{Name: "rerank", BaseURL: "http://b/v1", APIKeyEnv: "B_KEY", Model: "small", ContextWindow: 10, MaxOutput: 1,
		Temperature: &cold, Timeout: time.Minute, Retries: &none, PriceIn: new(1.0), PriceOut: new(2.0), Structured: "none", Stream: &no}
	if d := cmp.Diff(mine, mine.Inherit(main)); d != "" {
		t.Errorf("all set, to zero where that means something (-want +got):\n%s", d)
	}
	if p := (llm.Profile{BaseURL: "http://b/v1"}).Inherit(main); p.APIKeyEnv != "" {
		t.Errorf("another server gets the key of %s", p.APIKeyEnv)
	}
	for _, tt := range []struct {
		mine    llm.Profile
		in, out *float64
	}{
		{llm.Profile{Model: "local"}, nil, nil},
		{llm.Profile{Model: "local", PriceOut: new(1.0)}, nil, new(1.0)},
		{llm.Profile{Model: "big"}, new(3.0), new(4.0)},
		{llm.Profile{Model: "big", PriceIn: new(1.0)}, new(1.0), new(4.0)},
		{llm.Profile{Model: "big", BaseURL: "http://b/v1"}, new(3.0), new(4.0)},
		{llm.Profile{BaseURL: "http://b/v1", PriceIn: new(0.0), PriceOut: new(0.0)}, new(0.0), new(0.0)},
	} {
		p := tt.mine.Inherit(main)
		if d := cmp.Diff([]*float64{tt.in, tt.out}, []*float64{p.PriceIn, p.PriceOut}); d != "" {
			t.Errorf("%+v: prices (-want +got):\n%s", tt.mine, d)
		}
		if p.ContextWindow != 1000 || p.MaxOutput != 100 {
			t.Errorf("%+v: %d tokens, %d of a reply", tt.mine, p.ContextWindow, p.MaxOutput)
		}
	}
}

func TestNew(t *testing.T) {
	t.Setenv("EMPTY_KEY", "")
	t.Setenv("LONG_KEY", "hunter2\nhunter3")
	for _, tt := range []struct {
		name string
		p    llm.Profile
		err  error // nil: any
	}{
		{"no model", llm.Profile{BaseURL: "http://a"}, nil},
		{"no key", llm.Profile{Model: "m", APIKeyEnv: "EMPTY_KEY"}, llm.ErrNoKey},
		{"key of two lines", llm.Profile{Model: "m", APIKeyEnv: "LONG_KEY"}, llm.ErrNoKey},
		{"password", llm.Profile{Model: "m", BaseURL: "http://u:hunter2@host/v1"}, nil},
		{"query", llm.Profile{Model: "m", BaseURL: "http://host/v1?key=hunter2"}, nil},
		{"fragment", llm.Profile{Model: "m", BaseURL: "http://host/v1#hunter2"}, nil},
		{"scheme", llm.Profile{Model: "m", BaseURL: "file:///hunter2"}, nil},
		{"no URL", llm.Profile{Model: "m", BaseURL: "http://hunter2 host:x"}, nil},
		{"structured", llm.Profile{Model: "m", BaseURL: "http://a", Structured: "xml"}, nil},
	} {
		_, err := llm.New(tt.p, nil)
		if err == nil || tt.err != nil && !errors.Is(err, tt.err) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	c, err := llm.New(llm.Profile{Model: "m", BaseURL: "http://a/v1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Profile(); *p.Retries != llm.DefaultRetries || p.Timeout != llm.DefaultTimeout || p.MaxOutput != llm.DefaultMaxOutput || p.APIKeyEnv != "" {
		t.Errorf("defaults %+v", p)
	}
	if _, err := c.Ask(t.Context(), llm.Request{}); err == nil {
		t.Error("a request without a message is made")
	}
}
