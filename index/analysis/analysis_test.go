package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/index/analysis"
)

func TestTerms(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"English", "The Budgets, roughly!", "the budget roughli"},
		{"possessive and clipped verbs", "what's dog's dogs' she'd we're", "what dog dog she we"},
		{"apostrophe joined", "Don't dont", "dont dont"},
		{"curly apostrophe", "don’t", "dont"},
		{"French elision", "l'Église", "eglis leglis"},
		{"quotes", "'single' \"double\"", "singl doubl"},
		{"accents", "café Église naïve", "cafe eglis naiv"},
		{"decomposed accent", "cafe\u0301", "cafe"},
		{"letters that fold to two", "straße Œuvre", "strass oeuvr"},
		{"full width", "ＨＴＴＰ２ Ａbc", "=http2 http 2 abc"},
		{"ligature", "ﬁne", "fine"},
		{"invisible characters", "osp\u200brey\u00adx\u202e\u0001", "ospreyx"},
		{"hyphen", "force-push", "=forcepush forcepush forc push"},
		{"id with hyphen", "DEC-0054", "=dec0054 dec 0054"},
		{"id joined", "dec0054", "=dec0054 dec 0054"},
		{"id with underscore", "dec_0054", "=dec0054 dec 0054"},
		{"CVE", "CVE-2024-3094", "=cve2024.3094 cve 2024 3094"},
		{"camel", "parseHTTPResponse", "=parsehttpresponse parsehttprespons pars http respons"},
		{"snake", "parse_http_response", "=parsehttpresponse parsehttprespons pars http respons"},
		{"plural of capitals", "IDs", "id"},
		{"path", "auth/token.go", "=authtokengo =tokengo auth token go"},
		{"path with line", "auth/token.go:42", "=authtokengo42 =authtokengo =tokengo42 =tokengo auth token go 42"},
		{"e-mail", "user@example.com", "=userexamplecom =examplecom user exampl com"},
		{"scope operator", "std::vector", "=stdvector std vector"},
		{"assignment", "k=60", "=k60 k 60"},
		{"C++ and C#", "C++ C#", "=c++ c =c# c"},
		{"leading dot", ".NET", "=.net net"},
		{"version", "v2.6.3", "=2.6.3 =v2 v 2 6 2.6 3"},
		{"version without v", "2.6.3", "=2.6.3 2 6 2.6 3"},
		{"IP", "10.0.0.1", "=10.0.0.1 10 0 10.0 0 1"},
		{"thousands", "1,000,000 1,2", "1000000 =1000000 1 2"},
		{"ordinal", "July 3rd", "juli 3"},
		{"abbreviation", "U.S. e.g.", "us eg"},
		{"hash and number", "#123", "=#123 123"},
		{"variable and flag", "$HOME --dry-run", "=$home home =--dryrun =dryrun dryrun dry run"},
		{"scoped package", "@scope/pkg", "=@scopepkg =scopepkg scope pkg"},
		{"camel case before a number", "PostgreSQL16", "=postgresql16 postgresql =postgresql postgr sql 16"},
		{"camel case between numbers", "2FAGitHub3", "=2fagithub3 fagithub =fagithub 2 fa git hub 3"},
		{"camel case after a dot", "os.ReadFile", "=osreadfile =readfile osreadfil readfil os read file"},
		{"camel case in a path", "src/MyComponent.tsx", "=srcmycomponenttsx =mycomponenttsx =mycomponent mycompon src my compon tsx"},
		{"book number", "978-3-16-148410-0", "=978.3.16.148410.0 =9783161484100 9783161484100 978 3 16 148410 0"},
		{"book number with X", "0-306-40615-X", "=0.306.40615x =030640615x 030640615x 0 306 40615 x"},
		{"a date is no number", "2026-03-12", "=2026.03.12 2026 03 12"},
		{"network card", "00:1B:44:11:3A:B7", "=001b44113ab7"},
		{"spaced number", "4111 1111 2222 3333 then 5", "=4111111122223333 4111111122223333 4111 1111 2222 3333 then 5"},
		{"telephone", "+49 30 1234567", "=49301234567 49301234567 =301234567 301234567 49 30 1234567"},
		{"spaced number in Chinese", "号138 0013 8000是", "号 =13800138000 13800138000 138 0013 8000 是"},
		{"years", "2019 2020 2021", "2019 2020 2021"},
		{"numbers apart", "10 20 30, 1234 5678 9 1234", "10 20 30 1234 5678 9 1234"},
		{"full-width marks", "ＡＢＣ－１２ ａ＿ｂ", "=abc12 abc 12 =ab ab a b"},
		{"colours of a terminal", "\x1b[1;31mosp\x1b[0mrey\x1b[K", "osprei"},
		{"link of a terminal", "\x1b]8;;https://a.b\x1b\\osprey\x1b]8;;\a", "osprei"},
		{"escape without a sequence", "os\x1bprey \x1b", "osprei"},
		{"entities", "caf&eacute;&nbsp;&quot;R&amp;D&#39;s&#x22; &lt;b&gt;", "cafe =rd r d b"},
		{"no entities", "a&b; x=1&copy=2", "=ab a b =x1copy2 x 1 copi 2"},
		{"UUID", "550E8400-e29b-41d4-a716-446655440000", "=550e8400e29b41d4a716446655440000"},
		{"hex", "3f2a9bc", "=3f2a9bc"},
		{"prefixed hex", "0xDEADBEEF", "=deadbeef"},
		{"Windows path", `C:\a\b.txt`, "=cabtxt =abtxt =btxt c a b txt"},
		{"headings and emphasis", "## _Title_ **bold**", "titl bold"},
		{"Chinese", "玩游戏", "玩 玩游 游 游戏 戏"},
		{"traditional", "體育館", "体 体育 育 育馆 馆"},
		{"Latin in Chinese", "重跑gen-itgc后", "重 重跑 跑 =genitgc genitgc gen itgc 后"},
		{"Chinese date", "03月12号", "03 3月 月 12 12日 号"},
		{"kana", "しりとりをした", "しり りと とり りを をし した"},
		{"half-width kana", "ｶﾞｷﾞ", "ガギ"},
		{"Korean", "끝말잇기", "끝말잇기 끝말 말잇 잇기"},
		{"Thai", "รถไฟ", "รถ ถไ ไฟ"},
		{"Russian inflection", "резервных копий", "резервн коп"},
		{"Russian dictionary form", "Резервные копии", "резервн коп"},
		{"short i is a letter", "йод", "йод"},
		{"yo", "ёлка", "елк"},
		{"Arabic marks", "مُدَرِّس", "مدرس"},
		{"emoji", "Ship 🚀!", "ship 🚀"},
		{"skin tone", "👍🏽", "👍"},
		{"joined emoji", "👨\u200d👩", "👩 👨 👨👩"},
		{"flag", "🇩🇪", "🇩🇪"},
		{"keycap and heart", "1\ufe0f\u20e3 ❤\ufe0f", "1 ❤"},
		{"punctuation alone", "{}[]<>|& \\ /.*/ ~ ^ -- ... '", ""},
		{"invalid UTF-8", "a\xffb", "a b"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(analysis.Terms(nil, c.text), " ")
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("Terms(%q) (-want +got):\n%s", c.text, d)
			}
		})
	}
}

// Texts that mean the same share their whole term.
func TestSameIdentifier(t *testing.T) {
	for _, group := range [][]string{
		{"DEC-0054", "dec0054", "DEC_0054", "dec.0054"},
		{"parseHTTPResponse", "parse_http_response", "parse-http-response", "ParseHttpResponse"},
		{"v2.6.3", "2.6.3", "V2.6.3"},
		{"HTTP/2", "http2", "HTTP-2", "ＨＴＴＰ２"},
		{"550e8400-e29b-41d4-a716-446655440000", "550e8400e29b41d4a716446655440000"},
		{"0xDEADBEEF12", "deadbeef12"},
		{"C:/a/b.txt", `C:\a\b.txt`},
		{"9783161484100", "978-3-16-148410-0"},
		{"4111111111111111", "4111-1111-1111-1111"},
		{"5550199", "555-0199"},
		{"4111111111111111", "4111 1111 1111 1111"},
		{"13800138000", "138 0013 8000", "138-0013-8000", "+86 138 0013 8000"},
		{"49301234567", "+49 30 1234567", "+49-30-1234567"},
		{"001b44113ab7", "00:1B:44:11:3A:B7", "00-1b-44-11-3a-b7"},
		{"abc1234", "ＡＢＣ－１２３４", "ABC-1234", "ａｂｃ＿1234"},
		{"0312345678", "０３－１２３４－５６７８", "03-1234-5678"},
		{"uniqueptr", "std::unique_ptr", "std::unique_ptr<T>"},
		{"MySQL", "MySQL8"},
		{"WiFi", "WiFi6E"},
		{"postgresql", "PostgreSQL16", "PostgreSQL-16", "PostgreSQL", "PostgreSQL_16", "pkg.PostgreSQL16", "16PostgreSQL"},
		{"mysql", "MySQL8", "MySQL8.0", "lib/MySQL8.go"},
		{"github", "GitHub2FA", "GitHub", "GitHub2"},
		{"oauth2", "OAuth2", "OAuth-2"},
		{"oauth", "OAuth2", "OAuth2.0", "x/OAuth"},
		{"ipv6", "IPv6", "IPV6"},
		{"h2o", "H2O"},
		{"readfile", "os.ReadFile", "ReadFile", "os.ReadFile2", "io/os.ReadFile"},
		{"hasprefix", "strings.HasPrefix", "strings::HasPrefix", "strings->HasPrefix"},
		{"mycomponent", "src/MyComponent.tsx", "MyComponent.test.tsx", `src\MyComponent.tsx`, "MyComponent:12"},
		{"osprey", "\x1b[31mosprey\x1b[0m"},
		{"café", "caf&eacute;"},
	} {
		want := analysis.Terms(nil, group[0])[0]
		for _, s := range group[1:] {
			if got := analysis.Terms(nil, s); !slices.Contains(got, want) {
				t.Errorf("Terms(%q) = %q lacks %q of %q", s, got, want, group[0])
			}
		}
	}
}

// Texts that only look alike do not share a whole term.
func TestOtherIdentifier(t *testing.T) {
	for _, p := range [][2]string{
		{"CVE-2024-3094", "CVE-2024-31497"}, {"2.6.3", "26.3"}, {"2.6.3", "263"}, {"1.2.3.4", "12.34"},
		{"parseHeader", "parseHeaders"}, {"DEC-0054", "DEC-0154"}, {"v1.4.0", "v1.40"},
	} {
		want := analysis.Terms(nil, p[0])[0]
		if got := analysis.Terms(nil, p[1]); slices.Contains(got, want) {
			t.Errorf("Terms(%q) = %q has %q of %q", p[1], got, want, p[0])
		}
	}
}

func TestParseIdentifiers(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"are we hit by CVE-2024-3094?", "=cve2024.3094"},
		{"where is parseHTTPResponse", "=parsehttpresponse"},
		{"bug in auth/token.go:42", "=authtokengo42 =authtokengo"},
		{"open 3f2a9bc please", "=3f2a9bc"},
		{"what does ENOENT mean", "enoent"},
		{"is v2.6.3 pinned", "=2.6.3"},
		{"order 48213", "48213"},
		{"gen-itgc", "=genitgc"}, // nothing else is asked
		{"C++ or C#", "=c++ =c#"},
		{"the well-known self-care and/or day-to-day work", ""},
		{"in 2023 at 10:30 for 24-hour 5k on the 3rd at 8am", ""},
		{"on 2026-03-12", ""},
		{"McDonald said e.g. nothing", ""},
		{"WHO SHOUTS HERE", ""},
	} {
		var got []string
		for _, term := range analysis.Parse(c.query).Terms {
			if term.Group > 0 {
				got = append(got, term.Text)
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("identifiers of %q (-want +got):\n%s", c.query, d)
		}
	}
}

func TestParse(t *testing.T) {
	q := analysis.Parse("the cat and the cats 猫")
	want := []analysis.Term{
		{Text: "the", Count: 2, Weight: 1, Kind: analysis.KindStop},
		{Text: "cat", Count: 2, Weight: 1},
		{Text: "and", Count: 1, Weight: 1, Kind: analysis.KindStop},
		{Text: "猫", Count: 1, Weight: 1, Kind: analysis.KindHan},
	}
	if d := cmp.Diff(want, q.Terms); d != "" {
		t.Errorf("Parse (-want +got):\n%s", d)
	}
}

// The parts of a long path do not drown the other words.
func TestPartsOfLongNames(t *testing.T) {
	var sum float32
	for _, term := range analysis.Parse("home/user/src/pkg/auth/token.go").Terms {
		if term.Kind == analysis.KindPart && !term.Optional {
			sum += term.Weight
		}
	}
	if sum > 1.51 {
		t.Errorf("parts weigh %v, want at most 1.5", sum)
	}
}

func TestParseIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		b.WriteString(strings.Repeat("a", i%50) + string(rune('b'+i%20)) + " ")
	}
	if n := len(analysis.Parse(b.String()).Terms); n > analysis.MaxTerms {
		t.Errorf("%d terms", n)
	}
}

var fuzzSeeds = []string{"DEC-0054 don't", "src/auth/token.go:42", "重跑gen-itgc后 3月", "👨\u200d👩\u200d👧 🇩🇪", "v2.6.3 C++ .NET 0xFF",
	"끝말잇기 รถไฟ резервные", "a\xff\u200b\u0301'", "https://a.b/c?d=e&f#g", "\x1b[31mosprey\x1b[0m \x1b]8;;u\a", "R&amp;D &#27;[1m", "os.ReadFile2 978-3-16-148410-0", "1,000 3rd U.S.A.", "-.-.-", "''''s", "\u1100\u1161"}

func FuzzTerms(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range analysis.Terms(nil, text) {
			if term == "" || !utf8.ValidString(term) {
				t.Fatalf("Terms(%q) has %q", text, term)
			}
		}
	})
}

// What is asked in the words of a text is found in it.
func FuzzParse(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		indexed := map[string]bool{}
		for _, term := range analysis.Terms(nil, text) {
			indexed[term] = true
		}
		q := analysis.Parse(text)
		if len(q.Terms) > analysis.MaxTerms {
			t.Fatalf("%d terms", len(q.Terms))
		}
		for _, term := range q.Terms {
			if !indexed[term.Text] {
				t.Fatalf("Parse(%q) asks for %q, which the text is not indexed by", text, term.Text)
			}
			if term.Count < 1 || term.Weight <= 0 || term.Weight > 1 || term.Group < 0 {
				t.Fatalf("Parse(%q) has %+v", text, term)
			}
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	for name, text := range map[string]string{
		"english": strings.Repeat("The deploy was rolled back because Nadia's team found errors in staging. ", 1000),
		"chinese": strings.Repeat("用户喜欢深色模式，字体要大一号。", 1000),
		"code":    strings.Repeat("see src/auth/token.go:42 and parseHTTPResponse in v2.6.3 of @scope/pkg ", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				analysis.Each(text, func([]byte) {})
			}
		})
	}
}
