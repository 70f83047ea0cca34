package when

import "time"

// A point is a date as it is written: parts that are zero were not said.
type point struct {
	y, m, d int
	third   int    // of the month or year: 1 early, 2 middle, 3 late
	season  int    // 1 spring ... 4 winter
	quarter int    // 1-4
	half    int    // 1-2
	void    bool   // no calendar has it
	weekday bool   // fixed is a day of the week, whose week was not said
	fixed   period // says it all when it has a bound
}

func (p point) full() bool { return p.y != 0 && p.m != 0 && p.d != 0 && !p.void }

// A parser reads the tokens of one text. Its methods take the index of a token
// and return the index after what they matched, or 0.
type parser struct {
	text  string
	toks  []token
	loc   *time.Location
	now   time.Time
	today civil
	depth int // of dates that are counted from dates
}

// end is the index after the last token of the text.
func (p *parser) end() int { return len(p.toks) - padding }

func (p *parser) mark(i int, r rune) bool { return p.toks[i].kind == kindMark && p.toks[i].val == r }

func (p *parser) han(i int, r rune) bool { return p.toks[i].kind == kindHan && p.toks[i].val == r }

// glued reports whether token i begins where the one before it ends.
func (p *parser) glued(i int) bool { return p.toks[i].start == p.toks[i-1].end && i > 1 }

// number returns the value of a number of one to most digits.
func (p *parser) number(i, most int) (int, bool) {
	t := p.toks[i]
	return int(t.val), t.kind == kindNumber && int(t.digits) <= most
}

func (p *parser) year(i int) (int, bool) {
	t := p.toks[i]
	return int(t.val), t.kind == kindNumber && t.digits == 4 && t.val >= minYear
}

// separated reads three numbers joined by one of the marks - / . _ without spaces.
func (p *parser) separated(i int) (a, b, c, next int) {
	for j := i; j <= i+4; j++ {
		want := kindNumber
		if (j-i)%2 == 1 {
			want = kindMark
		}
		if p.toks[j].kind != want || j > i && !p.glued(j) {
			return 0, 0, 0, 0
		}
	}
	switch sep := p.toks[i+1].val; sep {
	case '-', '/', '.', '_', '／', '．', '－':
		if p.toks[i+3].val != sep {
			return 0, 0, 0, 0
		}
	default:
		return 0, 0, 0, 0
	}
	return int(p.toks[i].val), int(p.toks[i+2].val), int(p.toks[i+4].val), i + 5
}

// numeric reads 2026-03-12, 2026/3/12, 2026.3.12, 12.03.2026, 12-03-2026 and
// 3/12/2026, where the month comes first unless it cannot.
func (p *parser) numeric(i int) (point, int) {
	a, b, c, next := p.separated(i)
	if next == 0 || p.toks[i+2].digits > 2 {
		return point{}, 0
	}
	first, last := p.toks[i].digits, p.toks[i+4].digits
	switch {
	case first == 4 && last <= 2:
	case first <= 2 && last == 4:
		sep := p.toks[i+1].val
		a, c = c, a
		if sep == '/' && c <= 12 && b != 0 {
			b, c = c, b
		}
	default:
		return point{}, 0
	}
	if !validDate(a, b, c) {
		return point{}, 0
	}
	return point{y: a, m: b, d: c}, next
}

// whole reports whether the number dates of tokens [i, next) stand alone, not
// inside a version, an address, an id or a price.
func (p *parser) whole(i, next int) bool {
	if i > 1 && p.glued(i) {
		switch before := p.toks[i-1]; before.kind {
		case kindNumber, kindWord:
			return false
		case kindMark:
			switch before.val {
			case '.', '-', '_', '/':
				if i > 2 && p.glued(i-1) && p.toks[i-2].kind == kindNumber {
					return false
				}
				if before.val == '.' && i > 2 && p.glued(i-1) {
					return false
				}
			case '$', '€', '£', '¥', '￥', '#', '+', '@', '%':
				return false
			}
		}
	}
	if !p.glued(next) {
		return true
	}
	switch after := p.toks[next]; after.kind {
	case kindNumber:
		return false
	case kindWord:
		return after.kw == otherT && p.toks[next+1].kind == kindNumber
	case kindMark:
		switch after.val {
		case '.', '-', '/', ',':
			return !(p.glued(next+1) && p.toks[next+1].kind == kindNumber)
		case '%':
			return false
		}
	}
	return true
}
