package plot

import (
	"fmt"
	"strconv"
	"strings"
)

// A Chain counts, for one arm, the runs that need a memory by where the way from the
// memory to the answer broke.
type Chain struct {
	Arm         string
	NotStored   int
	NotFound    int
	NotInjected int
	NotUsed     int
	UsedWrongly int
	Held        int // nothing broke
}

// link is one part of a chain's bar.
type link struct {
	name, fill string
	count      func(Chain) int
}

// links stand in the order of the way itself.
var links = [...]link{
	{"not stored", violet, func(c Chain) int { return c.NotStored }},
	{"not found", blue, func(c Chain) int { return c.NotFound }},
	{"not injected", teal, func(c Chain) int { return c.NotInjected }},
	{"not used", gold, func(c Chain) int { return c.NotUsed }},
	{"used wrongly", red, func(c Chain) int { return c.UsedWrongly }},
	{"held", grey, func(c Chain) int { return c.Held }},
}

// Chains draws one bar per arm, divided by where its runs broke; the widest is the
// arm with the most runs. Counts under zero are taken for zero.
func Chains(arms []Chain) string {
	if len(arms) == 0 {
		return ""
	}
	const (
		left, right = 96.0, 330.0
		top, row    = 6.0, 28.0
		gap         = 1.0
	)
	var d drawing
	most := 1
	for _, c := range arms {
		most = max(most, total(c))
	}
	said := make([]string, len(arms))
	for i, c := range arms {
		y := top + row*float64(i)
		d.name(0, y+16, left-6, fontSize, c.Arm)
		x := left
		var parts []string
		for _, l := range links {
			n := max(l.count(c), 0)
			if n == 0 {
				continue
			}
			w := (right - left) * float64(n) / float64(most)
			what := fmt.Sprintf("%s: %d %s", c.Arm, n, l.name)
			parts = append(parts, fmt.Sprintf("%d %s", n, l.name))
			d.rect(x, y+2, max(w-gap, .5), 20, `fill="`+l.fill+`"`, what)
			if s := strconv.Itoa(n); textWidth(s, smallSize)+2 <= w-gap {
				d.text(x+(w-gap)/2, y+16, `text-anchor="middle" font-size="11" pointer-events="none" fill="`+ink(l.fill)+`"`, s, "")
			}
			x += w
		}
		d.text(chartWidth, y+16, `text-anchor="end"`, strconv.Itoa(total(c)), "")
		said[i] = c.Arm + " " + strings.Join(parts, ", ")
	}
	bottom := top + row*float64(len(arms)) + 14
	for i, l := range links {
		x, y := 2+120*float64(i%3), bottom+18*float64(i/3)
		d.rect(x, y-9, 10, 10, `fill="`+l.fill+`"`, "")
		d.text(x+15, y, `font-size="11"`, l.name, "")
	}
	d.height = bottom + 18 + 8
	return d.String("Where the chain from memory to answer broke, in runs: " + strings.Join(said, "; ") + ".")
}

func total(c Chain) int {
	sum := 0
	for _, l := range links {
		sum += max(l.count(c), 0)
	}
	return sum
}
