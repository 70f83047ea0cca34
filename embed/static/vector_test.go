package static_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memsearch/memsearch/embed/static"
)

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

func roundToInt8(x float32) int8 { return int8(math.RoundToEven(float64(x))) }

// sumOfRows adds the original float32 rows of the tokens of text.
func sumOfRows(m *static.Model, tab *static.Table, text string, weight func(string) float32) []float64 {
	at := map[string]int{}
	for i, x := range tab.Tokens {
		at[x] = i
	}
	out := make([]float64, tab.Dims)
	for _, tok := range m.Tokens(text) {
		k, ok := at[tok]
		if !ok {
			id, _ := m.Lookup(tok)
			tokens, _ := m.Size()
			k = len(tab.Tokens) + int(id) - tokens
		}
		for j := range out {
			out[j] += float64(weight(tok)) * float64(tab.Rows[k*tab.Dims+j])
		}
	}
	return out
}

// TestVectorIsTheSumOfItsRows compares with a plain sum of the original rows.
func TestVectorIsTheSumOfItsRows(t *testing.T) {
	tab := testTable()
	m := load(t, tab)
	long := strings.Repeat("the cat run 我們去醫院 dog ", 300) // more rows than one flush
	for _, text := range []string{"cat", "the cat runs", "中国人", long} {
		for _, weight := range []func(string) float32{
			func(string) float32 { return 1 },
			func(s string) float32 { return float32(len(s)) },
		} {
			want := sumOfRows(m, tab, text, weight)
			ids := m.AppendTokenIDs(nil, text)
			var w []float32
			for _, id := range ids {
				w = append(w, weight(m.Token(id)))
			}
			got := m.VectorIDs(make([]float32, testDims), ids, w)
			if n := norm2(got); math.Abs(n-1) > 1e-5 {
				t.Errorf("%.20q: norm² %v", text, n)
			}
			var dot, n float64
			for j := range want {
				dot += want[j] * float64(got[j])
				n += want[j] * want[j]
			}
			if c := dot / math.Sqrt(n); c < .985 { // the price of 4 bits
				t.Errorf("%.20q: cosine to the float sum %v", text, c)
			}
		}
	}
	if !slices.Equal(m.Vector("cat dog 医院"), m.Vector("医院 DOG, cats")) {
		t.Error("order of tokens matters")
	}
}

func TestVectorWithoutEvidenceIsZero(t *testing.T) {
	m := load(t, testTable())
	for _, text := range []string{"", "...", "龘", "\xff"} {
		if norm2(m.Vector(text)) != 0 {
			t.Errorf("Vector(%q) is not zero", text)
		}
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tt := range []struct {
		name   string
		ids    []int32
		weight []float32
		norm   float64
	}{
		{"outside the table", []int32{-5, 1 << 30}, nil, 0},
		{"NaN", []int32{1}, []float32{nan}, 0},
		{"negative", []int32{1}, []float32{-1}, 0},
		{"infinite", []int32{1, 2}, []float32{inf, 1}, 1},
		{"one of two", []int32{1, -1}, []float32{2, 2}, 1},
	} {
		if n := norm2(m.VectorIDs(make([]float32, testDims), tt.ids, tt.weight)); math.Abs(n-tt.norm) > 1e-5 {
			t.Errorf("%s: norm² %v, want %v", tt.name, n, tt.norm)
		}
	}
}

// TestLongTextsDoNotOverflow repeats a row of the largest values past every
// flush of the 32-bit lanes.
func TestLongTextsDoNotOverflow(t *testing.T) {
	tab := &static.Table{Dims: 16, Tokens: []string{"up"}, MaxWord: 1, Rows: make([]float32, 16)}
	for i := range tab.Rows {
		tab.Rows[i] = float32(1 - 2*(i&1))
	}
	m := load(t, tab)
	want := make([]float32, 16)
	for i := range want {
		want[i] = float32(1-2*(i&1)) / 4 // sixteen equal elements of length 1
	}
	for _, n := range []int{1, 2, 3, 4, 255, 256, 257, 1000, 100000} {
		if got := m.Vector(strings.Repeat("up ", n)); !slices.Equal(got, want) {
			t.Fatalf("%d times: %v, want %v", n, got, want)
		}
	}
}

func TestIDF(t *testing.T) {
	tab := testTable()
	tab.Share = make([]float64, len(tab.Tokens))
	tab.Share[0] = .5 // "the"
	m := load(t, tab)
	for _, c := range []struct {
		token string
		df, n int
		want  float64
	}{
		{"the", 0, 0, math.Log(1 + (50-25+.5)/25.5)},
		{"the", 0, 10, math.Log(1 + (60-25+.5)/25.5)},
		{"cat", 0, 10, math.Log(1 + 60.5/.5)},
		{"cat", 10, 10, math.Log(1 + 50.5/10.5)},
		{"#3", 2, 10, math.Log(1 + 58.5/2.5)},
		{"nosuch", 2, 10, math.Log(1 + 58.5/2.5)},
		{"cat", -3, -4, math.Log(1 + 50.5/.5)},
	} {
		if got := float64(m.IDF(c.token, c.df, c.n)); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("IDF(%q, %d, %d) = %v, want %v", c.token, c.df, c.n, got, c.want)
		}
	}
	if a, b := m.IDF("the", 5000, 10000), math.Log(2); math.Abs(float64(a)-b) > .01 {
		t.Errorf("prior is felt in a large corpus: %v, want %v", a, b)
	}
}

func TestConcurrentUse(t *testing.T) {
	m := load(t, testTable())
	texts := []string{"the cat", "我們今天去醫院", "unknownword 42", "", "中国人 café"}
	var want [][]float32
	for _, x := range texts {
		want = append(want, m.Vector(x))
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				k := (g + i) % len(texts)
				if !slices.Equal(m.Vector(texts[k]), want[k]) {
					t.Error("different vector")
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestDot(t *testing.T) {
	for n := range 40 {
		a, b := make([]float32, n), make([]float32, n+3)
		var want float32
		for i := range a {
			a[i], b[i] = float32(i-7), float32(3*i+1)
			want += a[i] * b[i]
		}
		b[n] = 1000
		if got := static.Dot(a, b); got != want {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
}
