package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// numberCheck looks for a number in the answer. Thousands may be parted by
// commas, spaces or underscores. Chinese numerals count where they stand alone or
// beside a unit (三十), and anywhere when they are long (两万五千): short ones are
// parts of words.
//
// With units, only numbers with one of the units beside them count, and one that is
// the whole answer. A number that is negated, as containsCheck sees it, never
// counts; one that is said to be former does not count against not. One number that
// matches is enough, so an answer that tries several would pass: list the tempting
// ones in not, or say only, which wants every number that counts to match. Limits: no
// conversion of units, no words like "dozen" or "twenty".
type numberCheck struct {
	Value *float64  `yaml:"value"`
	Abs   float64   `yaml:"abs"` // tolerance
	Rel   float64   `yaml:"rel"` // tolerance as a share of value
	Units []string  `yaml:"units"`
	Not   []float64 `yaml:"not"`
	Only  bool      `yaml:"only"`
}

func (c *numberCheck) prepare() error {
	if c.Value == nil {
		return errors.New("value is missing")
	}
	for _, v := range append([]float64{*c.Value, c.Abs, c.Rel}, c.Not...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("a number is not finite")
		}
	}
	if c.Abs < 0 || c.Rel < 0 {
		return errors.New("a tolerance is negative")
	}
	if slices.ContainsFunc(c.Not, c.matches) {
		return errors.New("not holds a number that matches")
	}
	for i, u := range c.Units {
		if c.Units[i] = normal(u); c.Units[i] == "" {
			return errNothing
		}
	}
	return nil
}

func (c *numberCheck) matches(v float64) bool {
	// One part in 10¹² lets 0.1+0.2 be 0.3.
	return math.Abs(v-*c.Value) <= math.Max(c.Abs, c.Rel*math.Abs(*c.Value))+1e-12*math.Abs(*c.Value)
}

func (c *numberCheck) Check(_ context.Context, o Outcome) (Verdict, error) {
	text := unmarked.Replace(normal(o.Answer))
	found := numbers(text, c.Units)
	if len(found) == 0 {
		return fail("the answer has no number that counts"), nil
	}
	var values []float64
	for _, n := range found {
		if c.Only && !c.matches(n.v) || slices.Contains(c.Not, n.v) && !dismissed(text[:n.from]) {
			return fail("the answer has %v", n.v), nil
		}
		values = append(values, n.v)
	}
	if !slices.ContainsFunc(values, c.matches) {
		return fail("the answer has %v, not %v", values, *c.Value), nil
	}
	return pass("the answer has %v", *c.Value), nil
}

// unmarked takes away the marks of Markdown that part numbers from their units.
var unmarked = strings.NewReplacer("**", "", "`", "")

var (
	arabic = regexp.MustCompile(`[0-9]{1,3}(?:[, _][0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?`)
	han    = regexp.MustCompile(`[零〇一二两三四五六七八九十百千万亿]+`)
)

// A place is a number in a text.
type place struct {
	from, to int
	v        float64
	han      bool
}

// numbers returns the numbers of a text in normal form, in order, that have a
// unit beside them if any is given, or are all of it, and are not negated.
func numbers(text string, units []string) []place {
	var places []place
	for _, m := range arabic.FindAllStringIndex(text, -1) {
		// 10 000 is one number, 12 345678 are two: what is cut short is no number.
		if s := strings.NewReplacer(",", "", " ", "", "_", "").Replace(text[m[0]:m[1]]); whole(text, m[0], m[1]) || unitBeside(text, m[0], m[1], units) {
			if v, err := strconv.ParseFloat(s, 64); err == nil {
				if m[0] > 0 && text[m[0]-1] == '-' && (m[0] == 1 || !joins(lastRune(text[:m[0]-1]))) {
					v = -v
				}
				places = append(places, place{m[0], m[1], v, false})
			}
		}
	}
	for _, m := range han.FindAllStringIndex(text, -1) {
		if v, err := hanNumber(text[m[0]:m[1]]); err == nil {
			places = append(places, place{m[0], m[1], v, true})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.from - b.from })
	var out []place
	for _, p := range places {
		beside := unitBeside(text, p.from, p.to, units)
		all := strings.Trim(text, ` ."'。`) == text[p.from:p.to]
		if len(units) > 0 && !beside && !all || p.han && !beside && !alone(text, p.from, p.to) && !longNumeral(text[p.from:p.to]) || negated(text[:p.from]) {
			continue
		}
		out = append(out, p)
	}
	return out
}

func lastRune(s string) rune {
	r := []rune(s)
	if len(r) == 0 {
		return 0
	}
	return r[len(r)-1]
}

// alone reports whether no letter touches text[from:to].
func alone(text string, from, to int) bool {
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	var next rune
	for _, r := range text[to:] {
		next = r
		break
	}
	return !letter(lastRune(text[:from])) && !letter(next)
}

// longNumeral reports whether a Chinese numeral is none of the short ones, or of
// those without a power or zero, of which words are made (一起, 三三两两).
func longNumeral(s string) bool {
	return utf8.RuneCountInString(s) >= 4 && strings.ContainsAny(s, "十百千万亿零〇")
}

// unitBeside reports whether a unit touches text[from:to], a space apart at most.
func unitBeside(text string, from, to int, units []string) bool {
	for _, u := range units {
		before, after := strings.TrimSuffix(text[:from], " "), strings.TrimPrefix(text[to:], " ")
		if strings.HasPrefix(after, u) && whole(after, 0, len(u)) || strings.HasSuffix(before, u) && whole(before, len(before)-len(u), len(before)) {
			return true
		}
	}
	return false
}

var (
	hanDigits = map[rune]float64{'零': 0, '〇': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	hanPowers = map[rune]float64{'十': 10, '百': 100, '千': 1000}
)

// hanNumber reads Chinese numerals: by place (三百二十, 两万五) or digit by digit
// (二〇二六).
func hanNumber(s string) (float64, error) {
	runes := []rune(s)
	if len(runes) > 1 && !strings.ContainsAny(s, "十百千万亿") {
		var v float64
		for _, r := range runes {
			v = v*10 + hanDigits[r]
		}
		return v, nil
	}
	var total, part float64  // above the last 万 or 亿, and below it
	digit, last := -1.0, 1.0 // waiting for its power; the power before it
	for _, r := range runes {
		d, isDigit := hanDigits[r]
		p, isPower := hanPowers[r]
		switch {
		case isDigit && digit > 0:
			return 0, fmt.Errorf("%q is no number", s)
		case isDigit:
			if digit = d; d == 0 {
				last = 1
			}
			continue
		case isPower && digit < 0 && r != '十':
			return 0, fmt.Errorf("%q is no number", s)
		case isPower && digit < 0:
			digit = 1
		}
		digit = math.Max(digit, 0)
		switch {
		case isPower:
			part, last = part+digit*p, p
		case total+part+digit == 0:
			return 0, fmt.Errorf("%q is no number", s)
		case r == '万':
			total, part, last = total+(part+digit)*1e4, 0, 1e4
		default: // 亿
			total, part, last = (total+part+digit)*1e8, 0, 1e8
		}
		digit = -1
	}
	if digit > 0 && last > 1 { // 两万五 is 25,000
		digit *= last / 10
	}
	return total + part + math.Max(digit, 0), nil
}
