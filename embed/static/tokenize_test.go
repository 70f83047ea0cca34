package static_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/embed/static"
)

func TestTokens(t *testing.T) {
	m := load(t, testTable())
	grams := func(w string) (out []string) { // buckets of a long unknown word
		r := []rune("<" + w + ">")
		for i := 0; i+4 <= len(r) && i < 12; i++ {
			out = append(out, m.BucketName(string(r[i:i+4])))
		}
		return out
	}
	whole := func(w string) []string { return []string{m.BucketName(w)} }
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", []string{}},
		{" \t\n.,;!?", []string{}},
		{"The CATS were running", slices.Concat([]string{"the", "cat"}, grams("were"), []string{"run"})},
		{"ＴＨＥ　ｃａｔ", []string{"the", "cat"}},
		{"houses happiness", []string{"hous", "happi"}},
		{"我們", []string{"我", "们"}},
		{"醫院", []string{"医", "院", "医院"}},
		{"中国人", []string{"中", "国", "人", "中国人"}},
		{"中国cat人", []string{"中", "国", "中国", "cat", "人"}},
		{"\U00020000國", []string{"中", "国", "中国"}},
		{"42", []string{"42"}},
		{"1234567", whole("1234567")},
		{"xyz", whole("xyz")},
		{"cafe\u0301 café", []string{"café", "café"}},
		{"\u0301cat", []string{"cat"}},
		{"㎏", []string{"kg"}},
		{"c\u00a0a", slices.Concat(whole("c"), []string{"a"})},
		{"\xff\xfecat\x80", []string{"cat"}},
		{"Łódźka", grams("łódźka")},
		{strings.Repeat("y", 5000), grams(strings.Repeat("y", 5000))},
		{"don't", slices.Concat(whole("don"), whole("t"))},
		{"龘", []string{}},
	} {
		if d := cmp.Diff(c.want, m.Tokens(c.in)); d != "" {
			t.Errorf("Tokens(%.40q) (-want +got):\n%s", c.in, d)
		}
	}
}

func TestNamesRoundTrip(t *testing.T) {
	m := load(t, testTable())
	for id := range int32(m.Vocabulary()) {
		if got, ok := m.Lookup(m.Token(id)); !ok || got != id {
			t.Fatalf("Lookup(Token(%d)) = %d, %v", id, got, ok)
		}
	}
	for _, s := range []string{"", "#", "#-1", "#01", "#64", "nosuch"} {
		if _, ok := m.Lookup(s); ok {
			t.Errorf("Lookup(%q) found", s)
		}
	}
	if m.Token(-1) != "" || m.Token(int32(m.Vocabulary())) != "" {
		t.Error("Token outside the table")
	}
}

func TestChunks(t *testing.T) {
	s := strings.Repeat("x", 100)
	h := strings.Repeat("字", 50)
	m := load(t, testTable())
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{" \n ", nil},
		{"One. Two! Three?", []string{"One. Two! Three?"}},
		{s + ". " + s + ". " + s + ".", []string{s + ". " + s + ".", s + "."}},
		{h + "。" + h + "。", []string{h + "。", h + "。"}},
		{"a\nb", []string{"a b"}},
		{"3.14 is\npi", []string{"3.14 is pi"}},
	} {
		if d := cmp.Diff(c.want, m.Chunks(c.in)); d != "" {
			t.Errorf("Chunks(%.30q) (-want +got):\n%s", c.in, d)
		}
	}
}

// golden is one line of testdata/golden.jsonl: a text with its tokens and the
// start of its vector, or a pair of texts, by line, with its cosine.
type golden struct {
	Text   *string
	Tokens []string
	IDs    []int32
	Head   []float32
	Norm   float64
	A, B   int
	Cos    float64
}

func goldens(t testing.TB) (list []golden) {
	t.Helper()
	f, err := os.Open("testdata/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var g golden
		if err := json.Unmarshal(sc.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		list = append(list, g)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func goldenTexts(t testing.TB) (texts []string) {
	for _, g := range goldens(t) {
		if g.Text != nil {
			texts = append(texts, *g.Text)
		}
	}
	return texts
}

// TestGolden compares the shipped table with vectors that were written when it
// was trained.
func TestGolden(t *testing.T) {
	m := shared(t)
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	list := goldens(t)
	if len(list) != 50 {
		t.Errorf("%d golden records, want 50", len(list))
	}
	texts := goldenTexts(t)
	for _, g := range list {
		if g.Text == nil {
			if c := static.Dot(m.Vector(texts[g.A]), m.Vector(texts[g.B])); math.Abs(float64(c)-g.Cos) > 1e-6 {
				t.Errorf("cosine of %d and %d: %v, want %v", g.A, g.B, c, g.Cos)
			}
			continue
		}
		if d := cmp.Diff(g.Tokens, m.Tokens(*g.Text)); d != "" {
			t.Errorf("%q: tokens (-want +got):\n%s", *g.Text, d)
		}
		if d := cmp.Diff(g.IDs, m.AppendTokenIDs([]int32{}, *g.Text)); d != "" {
			t.Errorf("%q: ids (-want +got):\n%s", *g.Text, d)
		}
		v := m.Vector(*g.Text)
		if !slices.Equal(v[:8], g.Head) || math.Abs(math.Sqrt(norm2(v))-g.Norm) > 1e-6 {
			t.Errorf("%q: %v, want %v", *g.Text, v[:8], g.Head)
		}
	}
}
