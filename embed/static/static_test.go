package static_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/embed/static"
)

var (
	_ embed.Embedder  = (*static.Model)(nil)
	_ embed.Weigher   = (*static.Model)(nil)
	_ embed.Chunker   = (*static.Model)(nil)
	_ embed.Quantised = (*static.Model)(nil)
	_ embed.Cheap     = (*static.Model)(nil)
)

const testDims, testBuckets = 32, 64

// testTable is a small table with random rows.
func testTable() *static.Table {
	r := rand.New(rand.NewPCG(1, 2))
	t := &static.Table{
		Dims: testDims,
		Tokens: []string{"the", "cat", "run", "dog", "hous", "happi", "a", "我", "们", "今", "天", "医", "院", "医院", "今天",
			"中", "国", "中国", "中国人", "人", "ｘ", "42", "café", "kg", "東"},
		Buckets: testBuckets, MaxWord: 4,
		Fold: map[rune]rune{'們': '们', '醫': '医', '國': '国', '\U00020000': '中'},
	}
	for range (len(t.Tokens) + t.Buckets) * t.Dims {
		t.Rows = append(t.Rows, float32(r.NormFloat64()))
	}
	return t
}

func load(t testing.TB, tab *static.Table) *static.Model {
	t.Helper()
	b, err := tab.Encode()
	if err != nil {
		t.Fatal(err)
	}
	m, err := static.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func shared(t testing.TB) *static.Model {
	t.Helper()
	m, err := static.Shared()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func norm2(v []float32) (s float64) {
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return s
}

// TestEmbedderAgreesWithVector checks the batch interface against the single
// calls, and that a query is weighted by rarity in general text.
func TestEmbedderAgreesWithVector(t *testing.T) {
	m := shared(t)
	texts := []string{"the cat", "", "我們今天去醫院", "what is the capital"}
	for _, tt := range []struct {
		kind embed.Kind
		want func(string) []float32
	}{
		{embed.Passage, m.Vector},
		{embed.Query, func(s string) []float32 { return m.EmbedQuery(s, nil, 0) }},
	} {
		rows, err := m.Embed(t.Context(), texts, tt.kind)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != len(texts) {
			t.Fatalf("%v: %d rows", tt.kind, len(rows))
		}
		for i, text := range texts {
			if !slices.Equal(rows[i], tt.want(text)) {
				t.Errorf("%v %q: another row than alone", tt.kind, text)
			}
		}
	}
	if rows, err := m.Embed(t.Context(), nil, embed.Query); err != nil || len(rows) != 0 {
		t.Errorf("no texts: %v, %v", rows, err)
	}
	capital := m.Vector("capital")
	plain, weighted := m.Vector("what is the capital"), m.EmbedQuery("what is the capital", nil, 0)
	if a, b := static.Dot(capital, plain), static.Dot(capital, weighted); a >= b {
		t.Errorf("the rare word has cosine %v to the weighted query, %v to the plain one", b, a)
	}
}

func TestEmbedStopsWithItsContext(t *testing.T) {
	ctx, cancel := contextWithCancel(t)
	cancel()
	if rows, err := shared(t).Embed(ctx, []string{"cat"}, embed.Passage); err == nil || rows != nil {
		t.Errorf("cancelled: %v, %v", rows, err)
	}
}

// TestEmbedQueryWeighsByID checks that the frequencies of the corpus are asked
// for by id and that they are those of IDF.
func TestEmbedQueryWeighsByID(t *testing.T) {
	m := shared(t)
	const text, n = "When did Caroline go to the hospital 医院", 1000
	df := func(id int32) int { return int(id) % 900 }
	ids := m.AppendTokenIDs(nil, text)
	var asked []int32
	got := m.EmbedQuery(text, func(id int32) int { asked = append(asked, id); return df(id) }, n)
	once := slices.Compact(slices.Sorted(slices.Values(ids)))
	if d := cmp.Diff(once, asked); d != "" {
		t.Errorf("ids asked for (-want +got):\n%s", d)
	}
	var w []float32
	for _, id := range ids {
		w = append(w, m.IDF(m.Token(id), df(id), n))
	}
	if want := m.VectorIDs(make([]float32, m.Dims()), ids, w); !slices.Equal(got, want) {
		t.Error("EmbedQuery differs from VectorIDs with the weights of IDF")
	}
}

// TestFingerprint pins the identity of the shipped table: vectors on disk carry
// it. The checksum is the header's; TestGolden verifies it.
func TestFingerprint(t *testing.T) {
	m := shared(t)
	tokens, buckets := m.Size()
	if tokens != 29900 || buckets != 2048 || m.Vocabulary() != 31948 { // MODEL_CARD.md
		t.Errorf("%d tokens, %d buckets", tokens, buckets)
	}
	f := m.Fingerprint()
	f.Version = ""
	if d := cmp.Diff(embed.Fingerprint{Model: "memsearch-static", Dims: 512, Pooling: "sum"}, f); d != "" {
		t.Errorf("fingerprint (-want +got):\n%s", d)
	}
	if a, b := m.Fingerprint(), load(t, testTable()).Fingerprint(); a.Version == b.Version {
		t.Error("two tables have one version")
	}
}

// TestInt8KeepsTheCosine stores rows as int8 with one scale and compares the
// cosine with the float32 row.
func TestInt8KeepsTheCosine(t *testing.T) {
	m := shared(t)
	if !m.Int8() {
		t.Fatal("not quantised")
	}
	texts := goldenTexts(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var text strings.Builder
		for range 1 + r.IntN(60) {
			text.WriteString(m.Token(r.Int32N(29900)) + " ")
		}
		texts = append(texts, text.String(), strconv.Itoa(r.Int()))
	}
	for _, text := range texts {
		v := m.Vector(text)
		if norm2(v) == 0 {
			continue
		}
		var top float32
		for _, x := range v {
			top = max(top, x, -x)
		}
		q := make([]float32, len(v))
		for i, x := range v {
			q[i] = float32(roundToInt8(x * 127 / top))
		}
		embed.Normalize(q)
		if c := static.Dot(v, q); c < .9999 {
			t.Errorf("%q: cosine %v", text, c)
		}
	}
}

// A token that occurs n times counts 3n/(2+n) times in a query: 1 for one, 1.5 for
// two, never 3. An n-gram of an unknown word counts only when a document has it.
func TestEmbedQueryRepeated(t *testing.T) {
	m := shared(t)
	one := func(int32) int { return 1 }
	ids := m.AppendTokenIDs(nil, "cat dog")
	want := m.VectorIDs(make([]float32, m.Dims()), ids, []float32{1.5 * m.IDF("cat", 1, 100), m.IDF("dog", 1, 100)})
	if c := static.Dot(want, m.EmbedQuery("cat cat dog", one, 100)); c < 1-1e-6 {
		t.Errorf("cosine to twice the cat is %v", c)
	}
	if c := static.Dot(m.Vector("dog"), m.EmbedQuery(strings.Repeat("cat ", 500)+"dog", one, 100)); c < .2 {
		t.Errorf("500 cats drown the dog: cosine %v", c)
	}
	none := func(id int32) int { return 0 }
	if v := m.EmbedQuery("zzqxvorpal", none, 100); slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
		t.Error("spelling that no document has gives a vector")
	}
	if v := m.EmbedQuery("zzqxvorpal", one, 100); !slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
		t.Error("spelling that documents have gives no vector")
	}
}
