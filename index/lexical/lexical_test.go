package lexical_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/lexical"
)

// body returns a document of one field.
func body(k key.Key, text string) lexical.Doc {
	d := lexical.Doc{Key: k}
	d.Fields[analysis.FieldBody] = text
	return d
}

// bind makes the unit ordinal of a document the number of its file.
func bind(t testing.TB, r *lexical.Reader, units int) {
	t.Helper()
	keys, err := r.Keys()
	if err != nil {
		t.Fatal(err)
	}
	ords := make([]uint32, len(keys))
	for i, k := range keys {
		ords[i] = k.File()
	}
	if err := r.Bind(ords, units); err != nil {
		t.Fatal(err)
	}
}

// memory indexes each text as the one unit of a file.
func memory(t testing.TB, texts ...string) *lexical.Reader {
	t.Helper()
	r, err := lexical.Memory(t.Context(), func(yield func(lexical.Doc) bool) {
		for i, text := range texts {
			if !yield(body(key.Make(uint32(i), 0, 0), text)) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	bind(t, r, len(texts))
	return r
}

func search(t testing.TB, r *lexical.Reader, query string) *lexical.Result {
	t.Helper()
	res, err := r.Search(t.Context(), query, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

var noise = []string{
	"The team meets at ten. We talk about the plan of the day and what is blocked.",
	"Reviewers answer in one day. Small changes are merged by the author.",
	"Nightly backups are kept for thirty days in the cold bucket.",
	"The response was slow on Monday.", "Tokens live for one hour. Auth overview.",
	"The example user list is in the wiki.", "The vector index holds a list of rows.",
	"她喜欢游泳和画画。", "下周去上海开会。", "重跑报表后再通知财务。",
}

// Each query finds the first text before the others and the noise.
func TestFinds(t *testing.T) {
	for _, c := range []struct {
		query string
		texts []string
	}{
		{"DEC-0054", []string{"DEC-0054 queue choice", "DEC-0055 cache choice", "DEC-0154 naming"}},
		{"dec0054", []string{"DEC-0054 queue choice", "DEC-0055 cache choice"}},
		{"are we hit by CVE-2024-3094?", []string{"CVE-2024-3094 was in xz, we were not hit.", "CVE-2024-31497 affects the ssh agent we hit"}},
		{"HTTPResponse", []string{"`parseHTTPResponse` drops trailing headers."}},
		{"parse_http_response", []string{"`parseHTTPResponse` drops trailing headers."}},
		{"src/auth/token.go:42", []string{"The bug is in src/auth/token.go:42, an off-by-one.", "src/auth/session.go:42"}},
		{"auth/token.go", []string{"The bug is in src/auth/token.go:42, an off-by-one."}},
		{"/home/me/src/auth/token.go", []string{"The bug is in src/auth/token.go:42, an off-by-one."}},
		{"user@example.com", []string{"Billing questions go to user@example.com only."}},
		{"std::vector", []string{"Prefer std::vector over std::list for scans."}},
		{"k=60", []string{"We use k=60 in the fusion formula.", "60 users"}},
		{"C++", []string{"Written in C++ today.", "Vitamin C is fine.", "Written in C#."}},
		{".NET", []string{"Ported to .NET last year.", "The net result."}},
		{"v2.6.3", []string{"We pinned bleve at 2.6.3.", "We pinned bolt at v1.4.0.", "2 6 3"}},
		{"3f2a9bc", []string{"Broken since 3f2a9bc41d0e77aa, reverted.", "3f2a9be4"}},
		{"3f2a9bc41d0e77aa5566", []string{"Broken since 3f2a9bc, reverted."}},
		{"lauch checklist", []string{"Launch checklist: freeze, tag."}},
		{"lauch", []string{"Launch: freeze, tag."}},
		{"kubernets", []string{"Kubernetes upgrade."}},
		{"dont force push", []string{"Don't force-push to main.", "Push the force of habit."}},
		{"ＨＴＴＰ２", []string{"HTTP2 is on for the edge."}},
		{"🚀", []string{"Ship it 🚀", "Ship it 🐘"}},
		{"玩游戏", []string{"他喜欢玩各种电子游戏。"}},
		{"京", []string{"下周去北京开会。"}},
		{"體育", []string{"体育新闻"}},
		{"itgc", []string{"重跑gen-itgc后再导出报表。"}},
		{"しりとり", []string{"昨日は子供としりとりをした。"}},
		{"끝말잇기", []string{"어제는 아이와 끝말잇기를 했다."}},
		{"резервных копий", []string{"Резервные копии хранятся тридцать дней."}},
		{"cafe eglise", []string{"The café on Rue de l'Église opens at 8."}},
		{"what's the", []string{"What is the the the?"}}, // nothing but stop words
	} {
		r := memory(t, append(slices.Clone(c.texts), noise...)...)
		res := search(t, r, c.query)
		if res.Score[0] == 0 {
			t.Errorf("%q does not find %q", c.query, c.texts[0])
		}
		for i, s := range res.Score[1:] {
			if s >= res.Score[0] {
				t.Errorf("%q: text %d scores %v, the right one %v", c.query, i+1, s, res.Score[0])
			}
		}
		if float64(res.Score[0]) > res.Ideal {
			t.Errorf("%q scores %v of %v", c.query, res.Score[0], res.Ideal)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNothing(t *testing.T) {
	r := memory(t, noise...)
	for _, q := range []string{"zzqxv vorpalblade", "", " \t", "what is zzqxv", "{}[]<>|&", "\\", "\x00\xff"} {
		if res := search(t, r, q); slices.Max(res.Score) != 0 || slices.Max(res.Mass) != 0 || len(res.Exact) > 0 {
			t.Errorf("%q finds something: %v", q, res.Score)
		}
	}
}

func TestExact(t *testing.T) {
	r := memory(t, "CVE-2024-3094 xz", "CVE-2024-31497 ssh", "see DEC-0001", "see DEC-0001", "see DEC-0001", "see DEC-0001", "src/auth/token.go:42", "src/auth/token.go")
	for _, c := range []struct {
		query string
		want  []uint32
	}{
		{"CVE-2024-3094", []uint32{0}},
		{"cve-2024-31497 or CVE-2024-3094", []uint32{0, 1}},
		{"DEC-0001", nil}, // stands in too many
		{"src/auth/token.go:42", []uint32{6}},
		{"src/auth/token.go:99", []uint32{6, 7}}, // the file, when no text has the line
		{"auth/token.go", []uint32{6, 7}},
		{"CVE-2024-309", nil},
		{"xz", nil},
	} {
		if d := cmp.Diff(c.want, search(t, r, c.query).Exact); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.query, d)
		}
	}
}

// Three documents, two with the word, one of them twice: worked out by hand.
func TestScore(t *testing.T) {
	r := memory(t, "osprey", "osprey osprey heron", "heron heron")
	res := search(t, r, "osprey")
	idf := math.Log(1 + (3-2+.5)/(2+.5)) // N = 3, df = 2
	p := lexical.DefaultParams
	for i, c := range []struct{ freq, length float64 }{{1, 1}, {2, 3}} {
		tf := p.Weight[analysis.FieldBody] * c.freq * (100 + 2) / (100 + c.length) // 6 terms in 3 documents
		if want := idf * tf * (p.K1 + 1) / (p.K1 + tf); math.Abs(want-float64(res.Score[i])) > 1e-6 {
			t.Errorf("score %d is %v, want %v", i, res.Score[i], want)
		}
	}
	if res.Score[2] != 0 || res.Mass[0] != 1 || math.Abs(res.Ideal-1e-6-idf*(p.K1+1)) > 1e-12 {
		t.Errorf("scores %v, mass %v, ideal %v", res.Score, res.Mass, res.Ideal)
	}
	want := []lexical.TermStat{{Text: "osprei", DF: 2, IDF: idf}}
	if d := cmp.Diff(want, res.Terms); d != "" {
		t.Errorf("terms (-want +got):\n%s", d)
	}
}

// A unit of several chunks scores as its best one; each counts in df and N.
func TestBestChunk(t *testing.T) {
	docs := []lexical.Doc{
		body(key.Make(0, 0, 0), "osprey heron heron"),
		body(key.Make(0, 0, 1), "osprey"), body(key.Make(0, 0, 2), "heron heron"),
		body(key.Make(1, 0, 0), "heron heron"),
	}
	r, err := lexical.Memory(t.Context(), slices.Values(docs))
	if err != nil {
		t.Fatal(err)
	}
	bind(t, r, 2)
	if st := r.Stats(); st.Docs != 4 || st.Len[analysis.FieldBody] != 8 {
		t.Errorf("stats %+v", st)
	}
	res := search(t, r, "osprey")
	idf := math.Log(1 + (4-2+.5)/(2+.5))
	p := lexical.DefaultParams
	tf := (100. + 2) / (100 + 1) // 8 terms in 4 documents; the chunk has one
	want := idf * tf * (p.K1 + 1) / (p.K1 + tf)
	if res.Terms[0].DF != 2 || math.Abs(want-float64(res.Score[0])) > 1e-6 || res.Score[1] != 0 {
		t.Errorf("df %d, scores %v, want 2, %v and 0", res.Terms[0].DF, res.Score, want)
	}
}

// Writing in steps ranks exactly as building anew does.
func TestIncrementalIsRebuild(t *testing.T) {
	words := strings.Fields("osprey heron egret DEC-0054 dec-0055 3f2a9bc41d 3f2a9bc 北京 游戏 lauch launch launcher the deploy deploys a.b/c_d ospreys")
	const files = 12
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		model := map[uint32][]lexical.Doc{}
		base := ""
		for step := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			change := map[uint32]bool{}
			var docs []lexical.Doc
			for range rapid.IntRange(0, 4).Draw(rt, "changes") {
				f := rapid.Uint32Range(0, files-1).Draw(rt, "file")
				if change[f] {
					continue
				}
				change[f] = true
				model[f] = nil
				chunks := rapid.IntRange(0, 2).Draw(rt, "chunks")
				for c := range chunks {
					d := body(key.Make(f, 0, uint16(c)), strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 6).Draw(rt, "text"), " "))
					d.Fields[analysis.FieldTitle] = rapid.SampledFrom(words).Draw(rt, "title")
					model[f] = append(model[f], d)
				}
				docs = append(docs, model[f]...)
			}
			dir := filepath.Join(root, fmt.Sprint(step))
			if _, err := lexical.Write(t.Context(), dir, base, func(f uint32) bool { return change[f] }, slices.Values(docs)); err != nil {
				rt.Fatal(err)
			}
			base = dir
		}
		got, err := lexical.Open(base)
		if err != nil {
			rt.Fatal(err)
		}
		defer got.Close()
		var all []lexical.Doc
		for f := range uint32(files) {
			all = append(all, model[f]...)
		}
		want, err := lexical.Memory(t.Context(), slices.Values(all))
		if err != nil {
			rt.Fatal(err)
		}
		bind(t, got, files)
		bind(t, want, files)
		if d := cmp.Diff(want.Stats(), got.Stats()); d != "" {
			rt.Fatalf("stats (-rebuilt +incremental):\n%s", d)
		}
		for _, q := range append(slices.Clone(words), "ospray launhc", "the osprey 游戏", strings.Join(words, " ")) {
			if d := cmp.Diff(search(t, want, q), search(t, got, q)); d != "" {
				rt.Fatalf("%q (-rebuilt +incremental):\n%s", q, d)
			}
		}
	})
}

func TestManyBatchesStayFewSegments(t *testing.T) {
	base := ""
	root := t.TempDir()
	for i := range 40 {
		dir := filepath.Join(root, fmt.Sprint(i))
		if _, err := lexical.Write(t.Context(), dir, base, nil, slices.Values([]lexical.Doc{body(key.Make(uint32(i), 0, 0), "osprey")})); err != nil {
			t.Fatal(err)
		}
		base = dir
	}
	segs, err := filepath.Glob(filepath.Join(base, "*.zap"))
	if err != nil || len(segs) > 8 {
		t.Errorf("%d segments, %v", len(segs), err)
	}
	r, err := lexical.Open(base)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	bind(t, r, 40)
	if res := search(t, r, "osprey"); slices.Min(res.Score) == 0 {
		t.Errorf("lost documents: %v", res.Score)
	}
}

func TestDictionary(t *testing.T) {
	r := memory(t, "osprey heron")
	var got []string
	if err := r.Dictionary(func(term string) bool { got = append(got, term); return true }); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"heron", "osprei"}, got); d != "" {
		t.Errorf("dictionary (-want +got):\n%s", d)
	}
}

func TestConcurrentSearches(t *testing.T) {
	r := memory(t, noise...)
	queries := []string{"backups bucket", "lauch slow respons", "上海 会", "vector index of rows"}
	want := make([]*lexical.Result, len(queries))
	for i, q := range queries {
		want[i] = search(t, r, q)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				i %= len(queries)
				if d := cmp.Diff(want[i], search(t, r, queries[i])); d != "" {
					t.Errorf("%q (-alone +together):\n%s", queries[i], d)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestErrors(t *testing.T) {
	if _, err := lexical.Open(t.TempDir()); err == nil {
		t.Error("an empty folder opens")
	}
	dir := filepath.Join(t.TempDir(), "x")
	if _, err := lexical.Write(t.Context(), dir, "", nil, slices.Values([]lexical.Doc{body(1, "osprey")})); err != nil {
		t.Fatal(err)
	}
	r, err := lexical.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Search(t.Context(), "osprey", nil); err == nil {
		t.Error("an unbound reader searches")
	}
	if err := r.Bind(make([]uint32, 7), 1); err == nil {
		t.Error("Bind takes the wrong number of documents")
	}
	if err := r.Bind([]uint32{5}, 1); err == nil {
		t.Error("Bind takes a unit that is not there")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lexical.Memory(ctx, slices.Values([]lexical.Doc{body(1, "osprey")})); err == nil {
		t.Error("a cancelled build succeeds")
	}
}

// Whatever is damaged, opening and searching end with an error or an answer.
func TestDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	if _, err := lexical.Write(t.Context(), dir, "", nil, docs(300)); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at+32 < len(good); at += max(32, len(good)/40) {
			bad := slices.Clone(good)
			copy(bad[at:], strings.Repeat("\xff", 32))
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if r, err := lexical.Open(dir); err == nil {
				if keys, err := r.Keys(); err == nil {
					if r.Bind(make([]uint32, len(keys)), 1) == nil {
						_, _ = r.Search(t.Context(), "osprey number 17", nil)
					}
				}
				_ = r.Close()
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func docs(n int) iter.Seq[lexical.Doc] {
	return func(yield func(lexical.Doc) bool) {
		for i := range n {
			if !yield(body(key.Make(uint32(i), 0, 0), fmt.Sprintf("osprey number %d of the river w%d w%d flies at DEC-%04d", i, i%97, i%1009, i))) {
				return
			}
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for b.Loop() {
		if _, err := lexical.Write(b.Context(), filepath.Join(b.TempDir(), "x"), "", nil, docs(10_000)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r, err := lexical.Memory(b.Context(), docs(n))
			if err != nil {
				b.Fatal(err)
			}
			bind(b, r, n)
			for b.Loop() {
				search(b, r, "where does the osprey w17 fly at the river w23 number 812")
			}
		})
	}
}

// n occurrences in the query count 3n/(2+n) times: 1.5 for two, under 3 for any.
func TestRepeatedQueryWord(t *testing.T) {
	r := memory(t, "osprey", "heron", "gull")
	once, twice, often := search(t, r, "osprey"), search(t, r, "osprey osprey"), search(t, r, strings.Repeat("osprey ", 300))
	for _, c := range []struct {
		res  *lexical.Result
		want float32
	}{{twice, 1.5}, {often, 3 * 300. / 302}} {
		if got := c.res.Score[0] / once.Score[0]; math.Abs(float64(got-c.want)) > 1e-5 {
			t.Errorf("counts %v times, want %v", got, c.want)
		}
	}
}

// A text counts as at most ten times as long as the average, here 81/21 words, so
// that the one fact in a long page among short notes keeps its share.
func TestGiantText(t *testing.T) {
	texts := []string{strings.Repeat("filler ", 60) + "osprey"}
	for range 20 {
		texts = append(texts, "heron")
	}
	p := &lexical.Params{K1: 1, Prior: 2}
	p.Weight[analysis.FieldBody] = 1
	res, err := memory(t, texts...).Search(t.Context(), "osprey", p)
	if err != nil {
		t.Fatal(err)
	}
	avg := (61. + 20) / 21
	tf := (2 + avg) / (2 + 10*avg)
	if got, want := float64(res.Score[0])/res.Ideal, tf/(1+tf); math.Abs(got-want) > 1e-4 {
		t.Errorf("share of a perfect match is %v, want %v", got, want)
	}
}
