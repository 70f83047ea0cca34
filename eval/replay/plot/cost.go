package plot

import (
	"math"
	"strconv"
	"strings"
)

// A CostPoint is an arm's cost per run beside its pass rate with the interval.
type CostPoint struct {
	Arm       string
	Cost      float64
	Rate      float64
	Low, High float64
}

// Cost draws pass rate over cost, both from zero; unit names the cost, such as
// "tokens per run". Points are lettered in the order given and named under the
// chart, where also stands what could not be placed: costs that are missing, under
// zero, or over 1e15.
func Cost(unit string, points []CostPoint) string {
	if len(points) == 0 {
		return ""
	}
	const (
		left, right = 40.0, 344.0
		top, bottom = 10.0, 190.0
		row         = 17.0
	)
	var d drawing
	var highest float64
	for _, p := range points {
		if placeable(p) {
			highest = max(highest, p.Cost)
		}
	}
	step := niceStep(highest)
	steps := max(1, int(math.Ceil(highest/step-1e-9)))
	end := step * float64(steps)
	x := func(v float64) float64 { return left + (right-left)*clamp(v/end, 0, 1) }
	y := func(v float64) float64 { return bottom - (bottom-top)*clamp(v, 0, 1) }
	for _, tick := range []float64{0, .25, .5, .75, 1} {
		d.grid(left, y(tick), right, y(tick))
		d.text(left-5, y(tick)+4, `text-anchor="end" font-size="11"`, percent(tick), "")
	}
	for i := range steps + 1 {
		v := float64(i) * step
		d.grid(x(v), top, x(v), bottom)
		d.text(x(v), bottom+15, `text-anchor="middle" font-size="11"`, amount(v), "")
	}
	d.text((left+right)/2, bottom+31, `text-anchor="middle"`, fit(unit, right-left, fontSize), "")

	said := make([]string, len(points))
	taken := make([][2]float64, 0, len(points))
	for i, p := range points {
		said[i] = p.Arm + " " + amount(p.Cost) + ", " + percent(p.Rate) + " (" + interval(p.Low, p.High) + ")"
		if placeable(p) {
			taken = append(taken, d.point(x(p.Cost), y(p.Rate), y(p.Low), y(p.High), letter(i), said[i], taken))
		}
		line := bottom + 52 + row*float64(i)
		d.text(2, line, `font-weight="700"`, letter(i), "")
		d.name(24, line, 146, fontSize, p.Arm)
		d.text(228, line, `text-anchor="end"`, amount(p.Cost), "")
		d.text(276, line, `text-anchor="end" font-weight="600"`, percent(p.Rate), "")
		d.text(chartWidth, line, `text-anchor="end" font-size="11"`, interval(p.Low, p.High), "")
	}
	d.height = bottom + 52 + row*float64(len(points)-1) + 8
	return d.String("Pass rate against " + unit + ": " + strings.Join(said, "; ") + ".")
}

// maxCost is the highest cost that is placed; no replay comes near it.
const maxCost = 1e15

func placeable(p CostPoint) bool {
	return finite(p.Cost, p.Rate) && p.Cost >= 0 && p.Cost <= maxCost
}

// point draws a dot with its interval and its letter where no earlier letter stands;
// it returns the letter's place.
func (d *drawing) point(x, y, low, high float64, name, tip string, taken [][2]float64) [2]float64 {
	if finite(low, high) {
		d.line(x, low, x, high, `stroke="`+blue+`" stroke-width="1.5"`)
	}
	d.circle(x, y, 5, `fill="`+blue+`"`, tip)
	place := [2]float64{x + 8, y - 5}
	for !free(place, taken) {
		place[1] += 12
	}
	d.text(place[0], place[1], `font-weight="700" font-size="11"`, name, "")
	return place
}

func free(place [2]float64, taken [][2]float64) bool {
	for _, t := range taken {
		if math.Abs(place[0]-t[0]) < 11 && math.Abs(place[1]-t[1]) < 11 {
			return false
		}
	}
	return true
}

// letter names a point: A to Z, then AA, AB, …
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return letter(i/26-1) + letter(i%26)
}

// niceStep returns a step of 1, 2 or 5 times a power of ten that reaches highest in
// three to five steps.
func niceStep(highest float64) float64 {
	if highest < 1e-12 {
		return 1
	}
	raw := highest / 4
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*power*1.25 {
			return m * power
		}
	}
	return 10 * power
}

// amount writes a cost in three digits: 0.0123, 12.3, 1.23k, 12.3M.
func amount(v float64) string {
	if !finite(v) {
		return "–"
	}
	suffix := ""
	for _, s := range []string{"k", "M", "G"} {
		if math.Abs(v) < 999.5 {
			break
		}
		v, suffix = v/1000, s
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + suffix
}
