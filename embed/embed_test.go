package embed_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/embed"
)

// plain is an Embedder without abilities.
type plain struct{}

func (plain) Fingerprint() embed.Fingerprint { return embed.Fingerprint{Model: "plain", Dims: 2} }

func (plain) Embed(_ context.Context, texts []string, _ embed.Kind) ([][]float32, error) {
	rows := make([][]float32, len(texts))
	for i := range rows {
		rows[i] = []float32{1, 0}
	}
	return rows, nil
}

// able has two abilities.
type able struct{ plain }

func (able) Int8() bool                  { return true }
func (able) Chunks(text string) []string { return []string{text} }

// wrapper forwards nothing but what Embedder asks for.
type wrapper struct{ embed.Embedder }

func (w wrapper) Unwrap() embed.Embedder { return w.Embedder }

func TestAsLooksThroughWrappers(t *testing.T) {
	for _, tt := range []struct {
		name string
		e    embed.Embedder
		ok   bool
	}{
		{"none", plain{}, false},
		{"direct", able{}, true},
		{"wrapped", wrapper{able{}}, true},
		{"twice", wrapper{wrapper{able{}}}, true},
		{"wrapped none", wrapper{plain{}}, false},
		{"nil", nil, false},
		{"wrapped nil", wrapper{nil}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, ok := embed.As[embed.Quantised](tt.e)
			if ok != tt.ok || ok && !q.Int8() {
				t.Errorf("As[Quantised] = %v, %v, want ok=%v", q, ok, tt.ok)
			}
			if _, ok := embed.As[embed.Weigher](tt.e); ok {
				t.Error("As[Weigher] found one")
			}
		})
	}
}

func TestFingerprintTellsSpacesApart(t *testing.T) {
	base := embed.Fingerprint{Model: "m", Version: "1", Dims: 3, Prefixes: [2]string{"p: ", "q: "}, Pooling: "mean"}
	seen := map[uint64]string{base.Hash(): base.String()}
	for name, edit := range map[string]func(*embed.Fingerprint){
		"model":      func(f *embed.Fingerprint) { f.Model = "n" },
		"version":    func(f *embed.Fingerprint) { f.Version = "" },
		"dims":       func(f *embed.Fingerprint) { f.Dims = 4 },
		"passage":    func(f *embed.Fingerprint) { f.Prefixes[embed.Passage] = "" },
		"query":      func(f *embed.Fingerprint) { f.Prefixes[embed.Query] = "" },
		"swapped":    func(f *embed.Fingerprint) { f.Prefixes = [2]string{"q: ", "p: "} },
		"pooling":    func(f *embed.Fingerprint) { f.Pooling = "cls" },
		"quote":      func(f *embed.Fingerprint) { f.Model, f.Version = `m" version="1`, "" },
		"moved over": func(f *embed.Fingerprint) { f.Model, f.Version = "m1", "" },
	} {
		f := base
		edit(&f)
		if other, ok := seen[f.Hash()]; ok {
			t.Errorf("%s: %s hashes like %s", name, f, other)
		}
		seen[f.Hash()] = f.String()
	}
	// Written down once: a stored hash must stay readable by later versions.
	const want = `model="m" version="1" dims=3 passage="p: " query="q: " pooling="mean"`
	if got := base.String(); got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
}

func TestNormalize(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tt := range []struct {
		name string
		in   []float32
		want []float32
		ok   bool
	}{
		{"three four", []float32{3, 4}, []float32{.6, .8}, true},
		{"sign", []float32{0, -2}, []float32{0, -1}, true},
		{"huge", []float32{3e38, 0}, []float32{1, 0}, true},
		{"tiny", []float32{0, 1e-45}, []float32{0, 1}, true},
		{"zero", []float32{0, 0}, []float32{0, 0}, false},
		{"empty", nil, nil, false},
		{"nan", []float32{nan, 1}, nil, false},
		{"inf", []float32{inf, 1}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := append([]float32(nil), tt.in...)
			if ok := embed.Normalize(got); ok != tt.ok {
				t.Errorf("Normalize = %v, want %v", ok, tt.ok)
			}
			if tt.want != nil && !cmp.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestKindString(t *testing.T) {
	for k, want := range map[embed.Kind]string{embed.Passage: "passage", embed.Query: "query", 7: "Kind(7)"} {
		if got := k.String(); got != want {
			t.Errorf("%d: %q, want %q", int(k), got, want)
		}
	}
}
