package plot

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"

	"golang.org/x/text/width"
)

// Sizes in user units.
const (
	chartWidth = 360.0
	fontSize   = 12.0
	smallSize  = 11.0
	// Average advance of a narrow letter in the usual sans-serif fonts, and of a
	// Chinese one, as a share of the font size.
	narrowAdvance = .56
	wideAdvance   = 1.0
)

// Colours keep 3:1 on #ffffff and on #121212.
const (
	blue   = "#0077bb"
	orange = "#cc5500"
	violet = "#7a52c7"
	teal   = "#00877a"
	gold   = "#a87900"
	red    = "#cc3311"
	grey   = "#767676"
)

// A drawing collects the elements of one chart.
type drawing struct {
	body   strings.Builder
	height float64
}

// String returns the whole <svg> element; label is its text for readers who do not
// see it.
func (d *drawing) String(label string) string {
	return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="` + escape(label) +
		`" viewBox="0 0 ` + num(chartWidth) + " " + num(math.Ceil(d.height)) +
		`" width="100%" style="display:block;max-width:540px;height:auto" fill="currentColor" ` +
		`font-family="system-ui, sans-serif" font-size="` + num(fontSize) + `">` +
		d.body.String() + "</svg>\n"
}

func (d *drawing) rect(x, y, w, h float64, attrs, tip string) {
	d.body.WriteString(`<rect x="` + num(x) + `" y="` + num(y) + `" width="` + num(max(w, 0)) + `" height="` + num(h) + `" ` + attrs)
	d.close("rect", tip)
}

func (d *drawing) circle(x, y, r float64, attrs, tip string) {
	d.body.WriteString(`<circle cx="` + num(x) + `" cy="` + num(y) + `" r="` + num(r) + `" ` + attrs)
	d.close("circle", tip)
}

func (d *drawing) line(x1, y1, x2, y2 float64, attrs string) {
	d.body.WriteString(`<line x1="` + num(x1) + `" y1="` + num(y1) + `" x2="` + num(x2) + `" y2="` + num(y2) + `" ` + attrs)
	d.close("line", "")
}

// grid draws a faint line of the axes.
func (d *drawing) grid(x1, y1, x2, y2 float64) {
	d.line(x1, y1, x2, y2, `stroke="currentColor" stroke-opacity=".25"`)
}

// text writes s with its baseline at y. What was cut from s can be read in tip.
func (d *drawing) text(x, y float64, attrs, s, tip string) {
	d.body.WriteString(`<text x="` + num(x) + `" y="` + num(y) + `" ` + attrs + ">")
	if tip != "" {
		d.body.WriteString("<title>" + escape(tip) + "</title>")
	}
	d.body.WriteString(escape(s) + "</text>")
}

// name writes s cut to at most room units.
func (d *drawing) name(x, y, room, size float64, s string) {
	cut := fit(s, room, size)
	tip := ""
	if cut != s {
		tip = s
	}
	d.text(x, y, `font-size="`+num(size)+`"`, cut, tip)
}

func (d *drawing) close(element, tip string) {
	if tip == "" {
		d.body.WriteString("/>")
		return
	}
	d.body.WriteString("><title>" + escape(tip) + "</title></" + element + ">")
}

func escape(s string) string {
	var b strings.Builder
	// A strings.Builder does not fail.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// num writes a coordinate with at most two decimals.
func num(v float64) string {
	v = math.Round(v*100) / 100
	if v == 0 {
		v = 0 // not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// advance estimates the width of r.
func advance(r rune, size float64) float64 {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return wideAdvance * size
	}
	return narrowAdvance * size
}

func textWidth(s string, size float64) float64 {
	var w float64
	for _, r := range s {
		w += advance(r, size)
	}
	return w
}

// fit cuts s with an ellipsis when it is wider than room.
func fit(s string, room, size float64) string {
	if textWidth(s, size) <= room {
		return s
	}
	room -= advance('…', size)
	for i, r := range s {
		if room -= advance(r, size); room < 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

func finite(v ...float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

func clamp(v, low, high float64) float64 { return min(max(v, low), high) }

// percent writes a share as a whole percentage.
func percent(v float64) string {
	if !finite(v) {
		return "–"
	}
	return strconv.FormatFloat(math.Round(v*100)+0, 'f', 0, 64) + " %"
}

// interval writes the ends of an interval of shares.
func interval(low, high float64) string {
	if !finite(low, high) {
		return "–"
	}
	return strings.TrimSuffix(percent(low), " %") + "–" + percent(high)
}

// ink returns black or white, whichever can be read on a fill of #rrggbb.
func ink(fill string) string {
	if luminance(fill) > .179 { // where black and white contrast alike (WCAG 2.2)
		return "#000000"
	}
	return "#ffffff"
}

// luminance is the relative luminance of #rrggbb (WCAG 2.2).
func luminance(fill string) float64 {
	v, err := strconv.ParseUint(strings.TrimPrefix(fill, "#"), 16, 32)
	if err != nil {
		return 0
	}
	channel := func(shift uint) float64 {
		c := float64(v>>shift&0xff) / 255
		if c <= .04045 {
			return c / 12.92
		}
		return math.Pow((c+.055)/1.055, 2.4)
	}
	return .2126*channel(16) + .7152*channel(8) + .0722*channel(0)
}
