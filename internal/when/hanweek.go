package when

// nearby reads 上, 上上, 上个, 这, 这个, 本, 下, 下个 and returns how many periods ahead.
func (p *parser) nearby(i int) (n, next int) {
	switch {
	case p.oneOf(i, "上"):
		n, next = -1, i+1
		if p.oneOf(next, "上") {
			n, next = -2, next+1
		}
	case p.oneOf(i, "下"):
		n, next = 1, i+1
		if p.oneOf(next, "下") {
			n, next = 2, next+1
		}
	case p.oneOf(i, "这本"):
		next = i + 1
		if p.oneOf(i, "这") && p.oneOf(next, "一") {
			next++
		}
	default:
		return 0, 0
	}
	if p.oneOf(i-1, "以之") || p.oneOf(i, "本") && p.oneOf(i-1, "日基根原成资") {
		return 0, 0
	}
	if p.han(next, '个') {
		next++
	}
	return n, next
}

// hanWeek reads 上周, 上周五, 这个星期, 本周三, 周一, 星期天, 上周末.
func (p *parser) hanWeek(i int) (point, int) {
	ahead, j := p.nearby(i)
	if said := j != 0; !said {
		if p.numeral(i-1) || p.oneOf(i-1, "每各逢第几半整全首两四个数") && p.glued(i) {
			return point{}, 0
		}
		if p.has(i, "周", "末") && !p.oneOf(i+2, "了过") && p.done(i+2) {
			return point{fixed: p.weekend()}, i + 2
		}
		day, next := p.hanWeekday(i)
		if next == 0 {
			return point{}, 0
		}
		return point{fixed: p.lastWeekday(day), weekday: true}, next
	}
	if day, next := p.hanWeekday(j); next != 0 {
		return point{fixed: p.weekdayOf(day, ahead)}, next
	}
	switch {
	case p.has(j, "周", "末"):
		return point{fixed: back(p.today, -ahead, unitWeekend)}, j + 2
	case p.oneOf(j, "周") && !p.oneOf(j+1, "边围岁期刊报"):
		return point{fixed: back(p.today, -ahead, unitWeek)}, j + 1
	case p.has(j, "星", "期"), p.has(j, "礼", "拜"):
		return point{fixed: back(p.today, -ahead, unitWeek)}, j + 2
	case p.has(j, "季", "度"):
		return point{fixed: back(p.today, -ahead, unitQuarter)}, j + 2
	}
	return point{}, 0
}

// longClause is how many tokens of a clause are looked at.
const longClause = 24

// done reports whether the clause goes on with 了 or 过: what is told has
// happened and is no habit.
func (p *parser) done(i int) bool {
	for last := min(i+longClause, p.end()); i < last && p.toks[i].kind != kindBreak; i++ {
		switch {
		case p.oneOf(i, "了过") && !p.oneOf(i-1, "为除不经通") && !p.oneOf(i+1, "解程期敏去来"):
			return true
		case p.oneOf(i, "太快"), p.mark(i, '，'), p.mark(i, '。'), p.mark(i, ','):
			return false
		}
	}
	return false
}

// hanWeekday reads 周五, 星期天, 礼拜日.
func (p *parser) hanWeekday(i int) (day, next int) {
	switch {
	case p.has(i, "星", "期"), p.has(i, "礼", "拜"):
		i += 2
	case p.oneOf(i, "周"):
		i++
	default:
		return 0, 0
	}
	if p.oneOf(i, "日天") && !p.oneOf(i+1, "报刊") {
		return 6, i + 1
	}
	if d := hanDigit(p.toks[i].val); p.toks[i].kind == kindHan && d >= 1 && d <= 6 && p.toks[i].val != '两' && !hanCounts(p.toks[i+1]) {
		return d - 1, i + 1
	}
	return 0, 0
}

// hanCounts reports whether a token makes the numeral before it a count: 周一次
// does not hold 周一.
func hanCounts(t token) bool {
	if t.kind != kindHan {
		return false
	}
	switch t.val {
	case '次', '个', '十', '百', '千', '节', '回', '篇', '遍':
		return true
	}
	return false
}
