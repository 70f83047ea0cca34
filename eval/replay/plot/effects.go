package plot

import (
	"fmt"
	"math"
	"strings"
)

// An Effect is what each arm did to one task: its pass rate less that without
// memory, from -1 (harmful) to 1 (helpful). NaN stands for an arm in which the task
// was not run.
type Effect struct {
	Task string
	Diff []float64
}

// Effects draws helpful tasks as bars to the right of an arm's middle, harmful ones
// to the left, neutral ones as a dot, and a ring where the task was not run, in the
// order given. Tasks on which no arm has an effect are only counted, in a last line.
// Diff has one value per arm; missing ones were not run.
func Effects(arms []string, tasks []Effect) string {
	if len(arms) == 0 || len(tasks) == 0 {
		return ""
	}
	const label, row = 136.0, 18.0
	var d drawing
	// Slanted heads lean to the right by the cosine of 45 degrees, those of a wide
	// font by a little more.
	lean, column := 0.0, (chartWidth-label)/float64(len(arms))
	for i, a := range arms {
		to := 10 + min(textWidth(a, smallSize), 90)*math.Sqrt2/2
		lean, column = max(lean, to), min(column, (chartWidth-label-to)/(float64(i)+.5))
	}
	top := lean + 10
	middle := func(arm int) float64 { return label + column*(float64(arm)+.5) }

	shown, neutral := split(arms, tasks)
	bottom := top + row*float64(len(shown))
	for i := range shown {
		if i%2 == 0 {
			d.rect(0, top+row*float64(i), label+column*float64(len(arms)), row, `fill-opacity=".06"`, "")
		}
	}
	for arm, a := range arms {
		x := middle(arm)
		d.grid(x, top-3, x, bottom)
		d.text(x, top-6, fmt.Sprintf(`font-size="%s" transform="rotate(-45 %s %s)"`, num(smallSize), num(x), num(top-6)), fit(a, 90, smallSize), a)
	}
	for i, t := range shown {
		y := top + row*(float64(i)+.5)
		d.name(2, y+4, label-8, smallSize, t.Task)
		for arm, a := range arms {
			d.effect(middle(arm), y, column/2-3, at(t.Diff, arm), t.Task+", "+a)
		}
	}
	d.height = bottom + 4
	if neutral > 0 {
		d.text(2, bottom+15, `font-size="11"`, fmt.Sprintf("%s neutral in every arm", tasksAre(neutral)), "")
		d.height = bottom + 22
	}
	d.legend()
	return d.String(effectsLabel(arms, tasks))
}

// notRun is the look of the ring for a task that an arm did not run.
const notRun = `fill="none" stroke="` + grey + `" stroke-width="1.2"`

// effect draws one bar from x with the given room on each side.
func (d *drawing) effect(x, y, room, diff float64, what string) {
	switch {
	case !finite(diff):
		d.circle(x, y, 3, notRun, what+": not run")
	case neutralDiff(diff):
		d.circle(x, y, 1.8, `fill="`+grey+`"`, what+": neutral")
	case diff > 0:
		d.rect(x, y-5, room*min(diff, 1), 10, `fill="`+blue+`"`, fmt.Sprintf("%s: helpful, +%s", what, percent(diff)))
	default:
		w := room * min(-diff, 1)
		d.rect(x-w, y-5, w, 10, `fill="`+orange+`"`, fmt.Sprintf("%s: harmful, −%s", what, percent(-diff)))
	}
}

// legend adds the explanation of the bars under the chart.
func (d *drawing) legend() {
	y := d.height + 12
	d.rect(2, y-8, 14, 9, `fill="`+orange+`"`, "")
	d.text(20, y, `font-size="11"`, "◂ harmful", "")
	d.circle(94, y-4, 1.8, `fill="`+grey+`"`, "")
	d.text(101, y, `font-size="11"`, "neutral", "")
	d.rect(158, y-8, 14, 9, `fill="`+blue+`"`, "")
	d.text(176, y, `font-size="11"`, "helpful ▸", "")
	d.circle(243, y-4, 3, notRun, "")
	d.text(251, y, `font-size="11"`, "not run", "")
	d.height += 20
}

// split takes out the tasks on which no arm has an effect.
func split(arms []string, tasks []Effect) (shown []Effect, neutral int) {
	for _, t := range tasks {
		moved, ran := false, false
		for arm := range arms {
			v := at(t.Diff, arm)
			ran = ran || finite(v)
			moved = moved || finite(v) && !neutralDiff(v)
		}
		if ran && !moved {
			neutral++
			continue
		}
		shown = append(shown, t)
	}
	return shown, neutral
}

func effectsLabel(arms []string, tasks []Effect) string {
	said := make([]string, len(arms))
	for arm, a := range arms {
		var helpful, neutral, harmful int
		for _, t := range tasks {
			switch v := at(t.Diff, arm); {
			case !finite(v):
			case neutralDiff(v):
				neutral++
			case v > 0:
				helpful++
			default:
				harmful++
			}
		}
		said[arm] = fmt.Sprintf("%s %d helpful, %d neutral, %d harmful", a, helpful, neutral, harmful)
	}
	return "Effect of each arm per task: " + strings.Join(said, "; ") + "."
}

// at returns the value of an arm, or NaN when it is missing.
func at(diff []float64, arm int) float64 {
	if arm >= len(diff) {
		return math.NaN()
	}
	return diff[arm]
}

// neutralDiff takes differences for none that come from adding in another order.
func neutralDiff(v float64) bool { return math.Abs(v) < 1e-9 }

func tasksAre(n int) string {
	if n == 1 {
		return "1 task is"
	}
	return fmt.Sprintf("%d tasks are", n)
}
