package tokens_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch/internal/tokens"
)

var exact = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })

// count returns the number of o200k_base tokens of s.
func count(s string) (int, error) {
	codec, err := exact()
	if err != nil {
		return 0, err
	}
	return codec.Count(s)
}

// checkBound asserts that the bound of s is no less than its count.
func checkBound(t interface {
	Helper()
	Errorf(string, ...any)
}, s string) {
	t.Helper()
	n, err := count(s)
	if err != nil {
		t.Errorf("count(%q): %v", s, err)
		return
	}
	if bound := tokens.Bound(s); bound < n {
		t.Errorf("Bound(%q) = %d, less than its %d tokens", s, bound, n)
	}
}

// The counts are OpenAI's published examples and words that are one token.
func TestCount(t *testing.T) {
	for in, want := range map[string]int{
		"":                             0,
		"hello world":                  2,
		"tiktoken is great!":           6,
		"antidisestablishmentarianism": 6,
		"2 + 2 = 4":                    7,
		"お誕生日おめでとう":                    8,
		"\n\n":                         1,
		"123456":                       2,
	} {
		got, err := count(in)
		if err != nil || got != want {
			t.Errorf("count(%q) = %d, %v, want %d", in, got, err, want)
		}
		checkBound(t, in)
	}
}

var texts = []string{
	"We met last Tuesday and don't remember who'd paid for the leeks; they're all of Anna's.",
	"func (v *Vault) Walk(ctx context.Context) ([]Entry, error) {\n\treturn nil, fmt.Errorf(\"walk %s: %w\", v.dir, err)\n}\n",
	"今天天气很好，我们一起去公园散步。她说：“下周五再来！”然后就回家了。电影、彩票、北京赛车、腾讯。",
	"北京赛车 苹果手机，浙江杭州南京江西澳门 华为通讯 阅读 浏览 百度下载 腾讯 凤凰 微信 三明治 神彩 电脑电视 麒麟 黑客邦",
	"使用 Go 语言 编写的程序（version 1.26）运行在 Linux 上。",
	"👩‍👩‍👧‍👦 🎉🎉 🇩🇪 ✌🏽 👍 … “quoted” — ‘dash’",
	"Größe naïve café Straße ÀÉÎ Привет мир שלום العربية हिन्दी ภาษาไทย 한국어 ひらがなカタカナ",
	"| a | b |\n|---|---|\n| 1 | `x_y` |\r\n\r\n   \t  \n<!-- c -->\n\n## Head\n- [ ] item\n  - sub\n",
	"mem_20261129101500_k3f9a2 3f2a9c1d-77e0 https://example.org/a/b?c=d&e=%20#f aGVsbG8gd29ybGQ= CamelCaseHTTPServer snake_case",
	strings.Repeat("=", 200) + strings.Repeat(" ", 100) + strings.Repeat("\n", 30) + strings.Repeat("ab", 100) + strings.Repeat("哈", 90),
	"\xff\xfe broken \xe4\xb8 utf \xc3",
	"'s 'LL HE'LL I'ſ don'T ' '' '''s e\u0301a\u0301 \u0301A \u0301 a",
}

func TestBoundOfTexts(t *testing.T) {
	for _, s := range texts {
		checkBound(t, s)
	}
}

// Every rune falls into the class that the tokenizer's pattern gives it, or the
// pieces around it differ.
func TestBoundOfEveryRune(t *testing.T) {
	for r := range rune(0x20000) {
		checkBound(t, "aB"+string(r)+"c "+string(r)+"! \n"+string(r)+"1"+string(r))
	}
}

// The bound is worth something only while it is close.
func TestBoundIsClose(t *testing.T) {
	for i, most := range map[int]float64{0: 1.2, 1: 1.3, 2: 1.3} {
		n, err := count(texts[i])
		if err != nil {
			t.Fatal(err)
		}
		if bound := tokens.Bound(texts[i]); float64(bound) > most*float64(n) {
			t.Errorf("Bound(%q) = %d, more than %.1f times its %d tokens", texts[i], bound, most, n)
		}
	}
}

func TestBoundHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "pieces") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				s := rapid.SampledFrom(texts).Draw(t, "text")
				i := rapid.IntRange(0, len(s)).Draw(t, "from")
				j := rapid.IntRange(i, len(s)).Draw(t, "to")
				b.WriteString(s[i:j])
			case 1:
				b.WriteString(rapid.String().Draw(t, "any"))
			case 2:
				b.Write(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
			case 3:
				b.WriteString(rapid.StringMatching(`[ a-zA-Z'0-9_.,/(){}"\n-]{0,40}`).Draw(t, "ascii"))
			case 4:
				b.WriteString(string(rapid.SliceOfN(rapid.RuneFrom([]rune("的一是不了人我在有他这中大来上国彩神票电脑京赛车信讯门读运览取乐北南浙江西澳苹果阅腾凤凰微麒麟客邦—…，。、！？：（）“”《》「」　 ")), 0, 30).Draw(t, "han")))
			}
		}
		checkBound(t, b.String())
	})
}

func FuzzBound(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 1<<12 {
			checkBound(t, s)
		}
	})
}

func BenchmarkBound(b *testing.B) {
	for _, c := range []struct {
		name string
		text string
	}{{"english", texts[0]}, {"code", texts[1]}, {"chinese", texts[2]}} {
		b.Run(c.name, func(b *testing.B) {
			text := strings.Repeat(c.text+"\n", 200)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tokens.Bound(text)
			}
		})
	}
}
