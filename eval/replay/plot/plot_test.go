package plot_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch/eval/replay/plot"
)

// The page to look at: go test ./eval/replay/plot -page /tmp/page.html
var page = flag.String("page", "", "write a page of sample charts to this file")

var (
	nan      = math.NaN()
	outcomes = []plot.Outcome{
		{Arm: "none", Rate: .36, Low: .26, High: .48, N: 66},
		{Arm: "memory", Rate: .82, Low: .71, High: .89, N: 66},
		{Arm: "llm-selection", Rate: .77, Low: .66, High: .86, N: 66},
		{Arm: "oracle", Rate: .97, Low: .9, High: 1, N: 66},
		{Arm: "stale", Rate: .58, Low: .46, High: .69, N: 66},
		{Arm: "random", Rate: .35, Low: .25, High: .47, N: 66},
	}
	effectArms = []string{"memory", "llm-selection", "oracle", "stale", "random"}
	effects    = []plot.Effect{
		{Task: "editor-preference-en", Diff: []float64{1, 1, 1, 0, 0}},
		{Task: "数据库端口变更后的新端口号是多少", Diff: []float64{1, .67, 1, -1, 0}},
		{Task: "wrong-scope-trap-other-project-deploy", Diff: []float64{-1, 0, nan, 0, -.33}},
		{Task: "arithmetic", Diff: []float64{0, 0, 0, 0, 0}},
		{Task: "forget-request", Diff: []float64{0, 1, 1, nan, 0}},
	}
	costs = []plot.CostPoint{
		{Arm: "none", Cost: 312, Rate: .36, Low: .26, High: .48},
		{Arm: "memory", Cost: 1480, Rate: .82, Low: .71, High: .89},
		{Arm: "llm-selection", Cost: 6310, Rate: .77, Low: .66, High: .86},
		{Arm: "oracle", Cost: 540, Rate: .97, Low: .9, High: 1},
		{Arm: "stale", Cost: 1490, Rate: .80, Low: .7, High: .88},
		{Arm: "random", Cost: 1450, Rate: .35, Low: .25, High: .47},
	}
	chains = []plot.Chain{
		{Arm: "memory", NotStored: 2, NotFound: 5, NotInjected: 3, NotUsed: 1, UsedWrongly: 4, Held: 37},
		{Arm: "llm-selection", NotStored: 2, NotFound: 9, NotUsed: 3, UsedWrongly: 1, Held: 37},
		{Arm: "随机记忆", NotStored: 2, NotFound: 48, Held: 2},
	}
)

func charts() map[string]string {
	return map[string]string{
		"outcomes": plot.Outcomes(outcomes),
		"effects":  plot.Effects(effectArms, effects),
		"cost":     plot.Cost("tokens per run", costs),
		"chains":   plot.Chains(chains),
	}
}

func TestPage(t *testing.T) {
	if *page == "" {
		t.Skip("no -page given")
	}
	c := charts()
	var html strings.Builder
	html.WriteString(`<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>:root{color-scheme:light dark}body{font:16px system-ui;margin:16px;max-width:1200px}
main{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:24px}</style><main>`)
	for _, name := range []string{"outcomes", "effects", "cost", "chains"} {
		html.WriteString("<section><h2>" + name + "</h2>" + c[name] + "</section>")
	}
	if err := os.WriteFile(filepath.Clean(*page), []byte(html.String()+"</main>"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// parsed is what the tests look for in a chart.
type parsed struct {
	label string
	tips  []string
	text  []string
	marks map[string]int
}

// parse reads a chart as strict XML and fails on anything that a browser would
// fetch or run.
func parse(t interface {
	Helper()
	Fatalf(string, ...any)
}, svg string) parsed {
	t.Helper()
	p := parsed{marks: map[string]int{}}
	dec := xml.NewDecoder(strings.NewReader(svg))
	var stack []string
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return p
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			name := tok.Name.Local
			stack = append(stack, name)
			p.marks[name]++
			switch name {
			case "svg", "rect", "circle", "line", "text", "title":
			default:
				t.Fatalf("element <%s>", name)
			}
			for _, a := range tok.Attr {
				if a.Name.Local == "aria-label" {
					p.label = a.Value
				} else if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") || strings.Contains(a.Value, "url(") {
					t.Fatalf("attribute %s=%q", a.Name.Local, a.Value)
				} else if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Fatalf("%s is no number: %s", a.Name.Local, a.Value)
				}
			}
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if len(stack) == 0 {
				continue
			}
			switch stack[len(stack)-1] {
			case "title":
				p.tips = append(p.tips, string(tok))
			case "text":
				p.text = append(p.text, string(tok))
			}
		}
	}
}

func TestLabelsSayTheFigures(t *testing.T) {
	want := map[string]string{
		"outcomes": "Pass rate by arm with 95 % intervals: none 36 % (26–48 %, 66 tasks); memory 82 % (71–89 %, 66 tasks); llm-selection 77 % (66–86 %, 66 tasks); oracle 97 % (90–100 %, 66 tasks); stale 58 % (46–69 %, 66 tasks); random 35 % (25–47 %, 66 tasks).",
		"effects":  "Effect of each arm per task: memory 2 helpful, 2 neutral, 1 harmful; llm-selection 3 helpful, 2 neutral, 0 harmful; oracle 3 helpful, 1 neutral, 0 harmful; stale 0 helpful, 3 neutral, 1 harmful; random 0 helpful, 4 neutral, 1 harmful.",
		"cost":     "Pass rate against tokens per run: none 312, 36 % (26–48 %); memory 1.48k, 82 % (71–89 %); llm-selection 6.31k, 77 % (66–86 %); oracle 540, 97 % (90–100 %); stale 1.49k, 80 % (70–88 %); random 1.45k, 35 % (25–47 %).",
		"chains":   "Where the chain from memory to answer broke, in runs: memory 2 not stored, 5 not found, 3 not injected, 1 not used, 4 used wrongly, 37 held; llm-selection 2 not stored, 9 not found, 3 not used, 1 used wrongly, 37 held; 随机记忆 2 not stored, 48 not found, 2 held.",
	}
	got := map[string]string{}
	for name, svg := range charts() {
		got[name] = parse(t, svg).label
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSameInputSameChart(t *testing.T) {
	if diff := cmp.Diff(charts(), charts()); diff != "" {
		t.Error(diff)
	}
}

func TestNothingToDraw(t *testing.T) {
	for name, svg := range map[string]string{
		"outcomes":         plot.Outcomes(nil),
		"effects":          plot.Effects(effectArms, nil),
		"effects, no arms": plot.Effects(nil, effects),
		"cost":             plot.Cost("tokens", nil),
		"chains":           plot.Chains(nil),
	} {
		if svg != "" {
			t.Errorf("%s: %q", name, svg)
		}
	}
}

func TestNamesAreEscaped(t *testing.T) {
	const evil = `</text><script>alert("1")</script>&'` + "\x00\xff"
	for name, svg := range map[string]string{
		"outcomes": plot.Outcomes([]plot.Outcome{{Arm: evil, Rate: .5, Low: .4, High: .6}}),
		"effects":  plot.Effects([]string{evil}, []plot.Effect{{Task: evil, Diff: []float64{1}}}),
		"cost":     plot.Cost(evil, []plot.CostPoint{{Arm: evil, Cost: 1, Rate: .5}}),
		"chains":   plot.Chains([]plot.Chain{{Arm: evil, Held: 3}}),
	} {
		p := parse(t, svg)
		if strings.Contains(svg, "<script") || !strings.Contains(p.label, "<script>") || !utf8.ValidString(svg) {
			t.Errorf("%s: %s", name, svg)
		}
	}
}

// Bars go from an arm's middle: right for helpful, left for harmful, in proportion.
func TestEffectBars(t *testing.T) {
	svg := plot.Effects([]string{"memory"}, []plot.Effect{
		{Task: "full", Diff: []float64{1}},
		{Task: "half", Diff: []float64{.5}},
		{Task: "harm", Diff: []float64{-1}},
		{Task: "out of range", Diff: []float64{-7}},
		{Task: "not run"},
		{Task: "calm", Diff: []float64{0}},
	})
	bars := rects(svg, `<title>[^<]*(helpful|harmful)`)
	if len(bars) != 4 {
		t.Fatalf("%d bars", len(bars))
	}
	full, half, harm, out := bars[0], bars[1], bars[2], bars[3]
	if math.Abs(half[1]-full[1]/2) > .02 || full[0] != half[0] {
		t.Errorf("half %v of full %v", half, full)
	}
	if math.Abs(harm[0]+harm[1]-full[0]) > .02 || harm != out {
		t.Errorf("harm %v, out of range %v, middle %v", harm, out, full[0])
	}
	p := parse(t, svg)
	if all := strings.Join(p.text, "|"); !strings.Contains(all, "1 task is neutral in every arm") || strings.Contains(all, "calm") {
		t.Errorf("neutral task is not summed up: %s", all)
	}
	if all := strings.Join(p.tips, "|"); !strings.Contains(all, "not run, memory: not run") {
		t.Errorf("missing task is not named: %s", all)
	}
}

// Slanted heads stay in the drawing in fonts whose letters take .66 of their size,
// such as DejaVu Sans.
func TestEffectHeadsStayInside(t *testing.T) {
	head := regexp.MustCompile(`<text x="([0-9.]+)" y="([0-9.]+)" font-size="11" transform="rotate[^>]*>(?:<title>[^<]*</title>)?([^<]+)</text>`)
	for _, arms := range [][]string{{"random"}, {"memory", "oracle", "stale", "random"}, effectArms, {"without", "a-long-name-of-an-arm"}} {
		found := head.FindAllStringSubmatch(plot.Effects(arms, []plot.Effect{{Task: "t", Diff: make([]float64, len(arms))}, {Task: "u"}}), -1)
		if len(found) != len(arms) {
			t.Fatalf("%d heads of %d", len(found), len(arms))
		}
		for _, m := range found {
			x, _ := strconv.ParseFloat(m[1], 64)
			y, _ := strconv.ParseFloat(m[2], 64)
			side := .66 * 11 * float64(utf8.RuneCountInString(m[3])) * math.Sqrt2 / 2
			if x+side > 360 || y-side < 0 {
				t.Errorf("%q reaches from %v, %v to %v, %v", m[3], x, y, x+side, y-side)
			}
		}
	}
}

// rects returns x and width of the rectangles followed by what matches.
func rects(svg, then string) [][2]float64 {
	re := regexp.MustCompile(`<rect x="([0-9.-]+)" y="[0-9.-]+" width="([0-9.-]+)" [^>]*>` + then)
	var found [][2]float64
	for _, m := range re.FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		w, _ := strconv.ParseFloat(m[2], 64)
		found = append(found, [2]float64{x, w})
	}
	return found
}

// The segments of a bar are as wide as their counts, and the arm with the most tasks
// fills the room.
func TestChainSegments(t *testing.T) {
	segments := rects(plot.Chains([]plot.Chain{
		{Arm: "a", NotFound: 10, Held: 30},
		{Arm: "b", UsedWrongly: 20, NotUsed: -4},
	}), `<title>`)
	want := [][2]float64{{96, 57.5}, {154.5, 174.5}, {96, 116}} // less a gap of 1
	if diff := cmp.Diff(want, segments); diff != "" {
		t.Error(diff)
	}
}

func TestMissingValues(t *testing.T) {
	p := parse(t, plot.Outcomes([]plot.Outcome{{Arm: "none", Rate: nan, Low: nan, High: nan}}))
	if p.marks["circle"] != 0 || p.marks["rect"] != 0 {
		t.Errorf("marks of a missing outcome: %v", p.marks)
	}
	p = parse(t, plot.Cost("money", []plot.CostPoint{
		{Arm: "no price", Cost: nan, Rate: .5, Low: .4, High: .6},
		{Arm: "free", Cost: 0, Rate: .5, Low: nan, High: nan},
	}))
	if p.marks["circle"] != 1 || !strings.Contains(strings.Join(p.text, "|"), "no price|–|50 %") {
		t.Errorf("points %d, text %v", p.marks["circle"], p.text)
	}
}

// Costs too large or too small for an axis leave the others readable.
func TestCostsBeyondTheAxis(t *testing.T) {
	p := parse(t, plot.Cost("tokens", []plot.CostPoint{
		{Arm: "huge", Cost: math.MaxFloat64, Rate: .5},
		{Arm: "tiny", Cost: math.SmallestNonzeroFloat64, Rate: .5},
		{Arm: "negative", Cost: -1, Rate: .5},
		{Arm: "plain", Cost: 40, Rate: .5},
	}))
	if p.marks["circle"] != 2 || !strings.Contains(strings.Join(p.text, "|"), "|0|10|20|30|40|") {
		t.Errorf("points %d, text %v", p.marks["circle"], p.text)
	}
}

// Letters of points that lie on each other stand apart.
func TestCostLettersStandApart(t *testing.T) {
	same := plot.CostPoint{Arm: "x", Cost: 10, Rate: .5, Low: .4, High: .6}
	svg := plot.Cost("tokens", []plot.CostPoint{same, same, same})
	re := regexp.MustCompile(`<text x="([0-9.]+)" y="([0-9.]+)" font-weight="700" font-size="11">([A-C])<`)
	places := map[string]bool{}
	for _, m := range re.FindAllStringSubmatch(svg, -1) {
		places[m[1]+" "+m[2]] = true
	}
	if len(places) != 3 {
		t.Errorf("places %v", places)
	}
}

// Every fill can be seen on a light and on a dark page (WCAG 2.2, 1.4.11: 3 to 1),
// and the numbers inside a bar can be read (1.4.3: 4.5 to 1).
func TestContrast(t *testing.T) {
	fills := map[string]bool{}
	all := strings.Join([]string{charts()["outcomes"], charts()["effects"], charts()["cost"], charts()["chains"]}, "")
	for _, m := range regexp.MustCompile(`<(?:rect|circle)[^>]* fill="(#[0-9a-f]{6})"`).FindAllStringSubmatch(all, -1) {
		fills[m[1]] = true
	}
	if len(fills) != 7 {
		t.Errorf("fills %v", fills)
	}
	for fill := range fills {
		if light, dark := contrast(fill, "#ffffff"), contrast(fill, "#121212"); light < 3 || dark < 3 {
			t.Errorf("%s: %.1f on white, %.1f on near black", fill, light, dark)
		}
	}
	inside := regexp.MustCompile(`fill="(#[0-9a-f]{6})"><title>[^<]*</title></rect><text [^>]*fill="(#[0-9a-f]{6})"`)
	pairs := inside.FindAllStringSubmatch(charts()["chains"], -1)
	if len(pairs) == 0 {
		t.Fatal("no numbers inside bars")
	}
	for _, m := range pairs {
		if c := contrast(m[1], m[2]); c < 4.5 {
			t.Errorf("%s on %s: %.1f", m[2], m[1], c)
		}
	}
}

func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + .05) / (min(la, lb) + .05)
}

func luminance(c string) float64 {
	v, _ := strconv.ParseUint(c[1:], 16, 32)
	weights := []float64{.0722, .7152, .2126}
	var sum float64
	for i, w := range weights {
		s := float64(v>>(8*i)&0xff) / 255
		if s <= .04045 {
			sum += w * s / 12.92
		} else {
			sum += w * math.Pow((s+.055)/1.055, 2.4)
		}
	}
	return sum
}

// Whatever comes in, a chart is well-formed and holds no NaN.
func TestAnyInput(t *testing.T) {
	value := rapid.OneOf(rapid.Float64Range(-2, 2), rapid.Float64(), rapid.SampledFrom([]float64{nan, math.Inf(1), math.Inf(-1), 0, 1}))
	name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z-]{0,40}`))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		arms := make([]string, n)
		var (
			o []plot.Outcome
			e []plot.Effect
			c []plot.CostPoint
			h []plot.Chain
		)
		for i := range n {
			arms[i] = name.Draw(t, "arm")
			rate, low, high := value.Draw(t, "rate"), value.Draw(t, "low"), value.Draw(t, "high")
			o = append(o, plot.Outcome{Arm: arms[i], Rate: rate, Low: low, High: high})
			c = append(c, plot.CostPoint{Arm: arms[i], Cost: value.Draw(t, "cost"), Rate: rate, Low: low, High: high})
			e = append(e, plot.Effect{Task: name.Draw(t, "task"), Diff: rapid.SliceOfN(value, 0, 9).Draw(t, "diff")})
			h = append(h, plot.Chain{Arm: arms[i], NotFound: rapid.IntRange(-5, 500).Draw(t, "broken"), Held: rapid.IntRange(-5, 5000).Draw(t, "held")})
		}
		parse(t, plot.Outcomes(o))
		parse(t, plot.Effects(arms, e))
		parse(t, plot.Cost(arms[0], c))
		parse(t, plot.Chains(h))
	})
}
