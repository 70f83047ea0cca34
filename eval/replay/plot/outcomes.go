package plot

import (
	"strconv"
	"strings"
)

// An Outcome is an arm's pass rate with its interval, as shares from 0 to 1, over N
// tasks.
type Outcome struct {
	Arm       string
	Rate      float64
	Low, High float64
	N         int
}

// Outcomes draws the pass rate of each arm with its interval, from the top in the
// order given. The first arm's rate runs through the chart as a dashed line, so that
// the others can be read against it.
func Outcomes(arms []Outcome) string {
	if len(arms) == 0 {
		return ""
	}
	const (
		left, right = 96.0, 280.0
		top, row    = 8.0, 30.0
	)
	var d drawing
	bottom := top + row*float64(len(arms))
	d.height = bottom + 22
	at := func(v float64) float64 { return left + (right-left)*clamp(v, 0, 1) }
	for _, tick := range []float64{0, .25, .5, .75, 1} {
		d.grid(at(tick), top, at(tick), bottom)
	}
	for _, tick := range []float64{0, .5, 1} {
		d.text(at(tick), bottom+15, `text-anchor="middle" font-size="11"`, percent(tick), "")
	}
	if finite(arms[0].Rate) {
		d.line(at(arms[0].Rate), top, at(arms[0].Rate), bottom, `stroke="currentColor" stroke-opacity=".7" stroke-dasharray="3 3"`)
	}
	said := make([]string, len(arms))
	for i, a := range arms {
		y := top + row*(float64(i)+.5)
		said[i] = a.Arm + " " + percent(a.Rate) + " (" + interval(a.Low, a.High) + ", " + strconv.Itoa(a.N) + " tasks)"
		d.name(0, y+4, left-6, fontSize, a.Arm)
		if finite(a.Low, a.High) {
			d.rect(at(a.Low), y-1.5, at(a.High)-at(a.Low), 3, `fill="`+blue+`"`, said[i])
			for _, end := range []float64{a.Low, a.High} {
				d.line(at(end), y-5, at(end), y+5, `stroke="`+blue+`" stroke-width="1.5"`)
			}
		}
		if finite(a.Rate) {
			d.circle(at(a.Rate), y, 5, `fill="`+blue+`"`, said[i])
		}
		d.text(chartWidth, y-1, `text-anchor="end" font-weight="600"`, percent(a.Rate), "")
		d.text(chartWidth, y+11, `text-anchor="end" font-size="10.5"`, interval(a.Low, a.High), "")
	}
	return d.String("Pass rate by arm with 95 % intervals: " + strings.Join(said, "; ") + ".")
}
