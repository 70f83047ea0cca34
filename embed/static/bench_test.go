package static_test

import (
	"os"
	"testing"

	"github.com/memsearch/memsearch/embed/static"
)

func BenchmarkLoad(b *testing.B) {
	data, err := os.ReadFile("static.bin")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := static.Load(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVector(b *testing.B) {
	m := shared(b)
	dst := make([]float32, m.Dims())
	for _, bb := range []struct{ name, text string }{
		{"en150", "Caroline: I went to the support group yesterday and it was so powerful. Everyone shared their stories, and I felt accepted for the first time in years."},
		{"zh45", "下周三上午九点半我要去市中心医院复查，记得提前一天空腹，并把上次的化验单和医保卡放进蓝色的包里。"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.VectorTo(dst, bb.text)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}

func BenchmarkEmbedQuery(b *testing.B) {
	m := shared(b)
	df := func(id int32) int { return int(id) % 100 }
	b.ReportAllocs()
	for b.Loop() {
		m.EmbedQuery("when did Caroline go to the support group?", df, 10000)
	}
}

func BenchmarkDot(b *testing.B) {
	x, y := make([]float32, 512), make([]float32, 512)
	for b.Loop() {
		static.Dot(x, y)
	}
}
