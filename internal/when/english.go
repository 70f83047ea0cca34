package when

import (
	"strings"
	"time"
)

// point reads one date.
func (p *parser) point(i int) (point, int) {
	switch t := p.toks[i]; t.kind {
	case kindNumber:
		if pt, next := p.iso(i); next != 0 {
			return pt, next
		}
		if pt, next := p.hanPoint(i); next != 0 {
			return pt, next
		}
	case kindHan:
		return p.hanPoint(i)
	case kindWord:
		if t.kw == 0 || i > 1 && p.glued(i) && p.toks[i-1].kind != kindHan && !p.mayPrecede(i-1) {
			return point{}, 0
		}
	default:
		return point{}, 0
	}
	return p.english(i)
}

// mayPrecede reports whether a word right after token i can begin a date.
func (p *parser) mayPrecede(i int) bool {
	t := p.toks[i]
	if t.kind != kindMark {
		return false
	}
	switch t.val {
	case '_', '/', '\\', '@', '#', '.', '\'', '’', '$', '=', '&':
		return false
	case '-':
		return p.toks[i-1].kw.class() == classPart || p.toks[i-1].kind == kindNumber
	}
	return true
}

func (p *parser) english(i int) (point, int) {
	for _, rule := range []func(int) (point, int){
		p.counted, p.named, p.ahead, p.dayAlone, p.theWeekend, p.relative, p.quarter, p.edge, p.seasonYear, p.bareYear, p.bareMonth, p.bareWeekday,
	} {
		if pt, next := rule(i); next != 0 {
			return pt, next
		}
	}
	return point{}, 0
}

// iso reads the dates of numbers alone, with the time of day that an ISO 8601
// date carries: with a zone it says which day that was here.
func (p *parser) iso(i int) (point, int) {
	pt, next := p.numeric(i)
	if next == 0 {
		pt, next = p.loneCompact(i)
	}
	if next != 0 {
		if !p.whole(i, next) || p.toks[i+1].val == '_' {
			return point{}, 0
		}
		end := int(p.toks[next-1].end)
		if p.toks[next].kw != otherT || !p.glued(next) {
			return pt, next
		}
		t, n := clock(p.text[end:min(len(p.text), end+longestStamp)], civil{pt.y, pt.m, pt.d}, p.loc)
		for n > 0 && next < p.end() && int(p.toks[next].end) <= end+n {
			next++
		}
		if local := civilOf(t.In(p.loc)); n > 0 && local.y >= minYear {
			pt = point{y: local.y, m: local.m, d: local.d}
		}
		return pt, next
	}
	pd, next := p.dashed(i)
	if next == 0 || p.mark(i+1, '/') || !p.whole(i, next) || pd.from.y < oldestYear || pd.from.y > newestYear {
		return point{}, 0
	}
	if t := p.toks[i-1]; t.kind == kindMark && t.val == '-' && p.glued(i) {
		return point{}, 0
	}
	return point{fixed: pd}, next
}

// loneCompact reads 20260312 where it is no part of an id and no word says that
// it is one.
func (p *parser) loneCompact(i int) (point, int) {
	pt, next := p.compact(i)
	if next == 0 || pt.y < 1990 || pt.y > 2100 || !p.begins(i) || p.toks[next].kw != otherT && !p.ends(next) {
		return point{}, 0
	}
	if p.glued(i) && p.toks[i-1].kind == kindMark && strings.ContainsRune(`-–/\_.=&~|`, p.toks[i-1].val) ||
		p.glued(next) && p.toks[next].kind == kindMark && strings.ContainsRune(`-–/\_@=&~|`, p.toks[next].val) {
		return point{}, 0
	}
	j := i - 1
	for p.toks[j].kind == kindMark && strings.ContainsRune(".:：", p.toks[j].val) {
		j--
	}
	if t := p.toks[j]; t.kind == kindWord && countsThings(strings.ToLower(p.text[t.start:t.end])) || p.oneOf(j, "号单票") || p.oneOf(next, "号") {
		return point{}, 0
	}
	return pt, next
}

// countsThings reports whether a number after word names a thing.
func countsThings(word string) bool {
	switch word {
	case "order", "orders", "ticket", "invoice", "issue", "number", "no", "nr", "id", "case", "pr", "bug", "build", "commit", "account",
		"phone", "tel", "ref", "reference", "serial", "sku", "uid", "user", "port", "version", "rev", "revision", "job", "pid", "code", "pin":
		return true
	}
	return false
}

// quarter reads Q2 2025, Q2 of 2025, 2025 Q2, H1 2025 and the second quarter of
// 2025, and after a preposition Q2.
func (p *parser) quarter(i int) (point, int) {
	y, j := 0, i
	if v, ok := p.year(i); ok && p.begins(i) && v >= oldestYear && v <= newestYear {
		y, j = v, i+1
		if p.mark(j, '-') {
			j++
		}
	}
	if p.toks[j].kw == otherThe {
		j++
	}
	var pt point
	next := 0
	switch k := p.toks[j].kw; {
	case k == otherQ || k == otherH:
		n, ok := p.number(j+1, 1)
		if !ok || !p.glued(j+1) || n < 1 || n > 4 || k == otherH && n > 2 || !p.ends(j+2) {
			return point{}, 0
		}
		if pt.quarter, next = n, j+2; k == otherH {
			pt.quarter, pt.half = 0, n
		}
	case k.class() == classOrdinal && k.value() <= 4 && p.toks[j+1].kw == classUnit|kw(unitQuarter):
		pt.quarter, next = k.value(), j+2
	default:
		return point{}, 0
	}
	if y != 0 {
		pt.y = y
		return pt, next
	}
	if y, after := p.yearAfter(next); after != 0 {
		pt.y = y
		return pt, after
	}
	if pt.half != 0 || p.toks[j].kw == otherQ && !p.preposition(i-1) {
		return point{}, 0
	}
	return pt, next
}

// yearAfter reads 2025, ", 2025" or "of 2025".
func (p *parser) yearAfter(i int) (y, next int) {
	if p.toks[i].kw == otherOf || p.mark(i, ',') {
		i++
	}
	return p.plausibleYear(i)
}

// preposition reports whether token i is a word that stands before a time.
func (p *parser) preposition(i int) bool {
	switch k := p.toks[i].kw; {
	case k.class() == classIn, k.class() == classLast, k.class() == classPart,
		k == otherSince, k == otherUntil, k == otherBefore, k == otherAfter:
		return true
	}
	return false
}

// edge reads early May, mid-2023, late last year, the end of May, the beginning
// of this month.
func (p *parser) edge(i int) (point, int) {
	j := i
	if p.toks[j].kw == otherThe {
		j++
	}
	k := p.toks[j].kw
	switch k.class() {
	case classPart:
		if j++; p.mark(j, '-') {
			j++
		}
		if p.toks[j].kw == classIn|1 {
			j++
		}
	case classEdge:
		if j++; p.toks[j].kw != otherOf {
			return point{}, 0
		}
		j++
	default:
		return point{}, 0
	}
	var pt point
	next := 0
	switch {
	case p.toks[j].kw == otherThe && p.toks[j+1].kw == classUnit|kw(unitMonth):
		pt, next = point{fixed: back(p.today, 0, unitMonth)}, j+2
	case p.toks[j].kw == otherThe && p.toks[j+1].kw == classUnit|kw(unitYear):
		pt, next = point{fixed: back(p.today, 0, unitYear)}, j+2
	default:
		if pt, next = p.monthFirst(j); next != 0 && pt.d != 0 {
			return point{}, 0
		}
		if next == 0 {
			pt, next = p.lastThisNext(j)
		}
		if next == 0 {
			pt, next = p.rangePoint(j)
		}
	}
	if next == 0 || pt.third != 0 {
		return point{}, 0
	}
	pt.third = k.value()
	return pt, next
}

// seasonYear reads summer 2023 and the summer of 2023.
func (p *parser) seasonYear(i int) (point, int) {
	if p.toks[i].kw == otherThe {
		i++
	}
	k := p.toks[i].kw
	if k.class() != classSeason {
		return point{}, 0
	}
	y, next := p.yearAfter(i + 1)
	if next == 0 {
		return point{}, 0
	}
	return point{y: y, season: k.value()}, next
}

// bareYear reads the year of "in 2022". In "in 2000 patients" it counts.
func (p *parser) bareYear(i int) (point, int) {
	y, next := p.plausibleYear(i)
	if next == 0 || !p.begins(i) || !p.preposition(i-1) || p.toks[i-1].kw == classIn|2 {
		return point{}, 0
	}
	switch after := p.toks[next]; after.kind {
	case kindWord:
		if after.digits == 0 && after.kw == 0 && p.plural(next) {
			return point{}, 0
		}
		if after.kw.class() == classUnit || after.kw.class() == classNumber {
			return point{}, 0
		}
	case kindMark:
		if (after.val == '-' || after.val == '–') && p.toks[next+1].kind == kindWord && p.glued(next+1) {
			return point{}, 0
		}
	}
	return point{y: y}, next
}

// plural reports whether the word at i looks like things that are counted.
func (p *parser) plural(i int) bool {
	t := p.toks[i]
	switch w := p.text[t.start:t.end]; w {
	case "people", "men", "women", "children", "mice", "percent", "per", "different", "more", "new", "US", "euro":
		return true
	default:
		return len(w) > 3 && w[len(w)-1] == 's' && w[len(w)-2] != 's'
	}
}

// bareMonth reads a month by itself. One that is also a name or a verb needs a
// word before it that says it is a time.
func (p *parser) bareMonth(i int) (point, int) {
	k, next := p.month(i)
	if next == 0 || p.toks[i-1].kw.class() == classEvery || p.glued(next) && p.toks[next].kind == kindNumber {
		return point{}, 0
	}
	if k&(loose|short) != 0 {
		before := p.toks[i-1].kw
		firm := before.class() == classIn || before == otherSince || before == otherUntil ||
			before.class() == classPart || before.class() == classLast
		if before == otherBefore || before == otherAfter || before == otherOf && k&short == 0 {
			firm = p.toks[i].digits == 1
		}
		if !firm || k&(loose|short) == loose|short && p.toks[i].digits == 0 {
			return point{}, 0
		}
		if before == classIn|2 || (before == classIn|1 && !p.inMonth(i)) {
			return point{}, 0
		}
	}
	return point{m: k.month()}, next
}

// inMonth tells "in march" and "by May" from "by June Smith" and "in August's".
func (p *parser) inMonth(i int) bool {
	after := p.toks[i+1]
	if after.kind == kindWord && after.digits == 1 && after.kw == 0 {
		w := p.text[p.toks[i-1].start:p.toks[i-1].end]
		return w != "by" && w != "By"
	}
	return true
}

// bareWeekday reads a day of the week: the most recent one before today, or with
// "of last week" that one.
func (p *parser) bareWeekday(i int) (point, int) {
	k := p.toks[i].kw
	if k.class() != classWeekday || p.toks[i-1].kw.class() == classEvery {
		return point{}, 0
	}
	if k&short != 0 && (p.toks[i-1].kw != classIn|2 || p.toks[i].digits == 0) {
		return point{}, 0
	}
	day := int(k & named)
	next := i + 1
	j := next
	if p.toks[j].kw == otherOf {
		j++
	}
	if p.toks[j+1].kw == classUnit|kw(unitWeek) {
		switch w := p.toks[j].kw; w.class() {
		case classLast:
			return point{fixed: p.weekdayOf(day, -1)}, j + 2
		case classThis:
			return point{fixed: p.weekdayOf(day, 0)}, j + 2
		case classNext:
			return point{fixed: p.weekdayOf(day, 1)}, j + 2
		}
	}
	return point{fixed: p.lastWeekday(day), weekday: true}, next
}

// hoursAgo returns the civil day it was n hours ago.
func (p *parser) hoursAgo(n int) period {
	return dayPeriod(civilOf(p.now.Add(-time.Duration(n) * time.Hour)))
}
