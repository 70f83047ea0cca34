package when

import "github.com/memsearch/memsearch"

// hanPoint reads one date that is written in Chinese.
func (p *parser) hanPoint(i int) (point, int) {
	if t := p.toks[i]; t.kind == kindHan && !hanStarts(t.val) {
		return point{}, 0
	}
	if p.has(i-2, "每", "年") || p.has(i-2, "农", "历") || p.has(i-2, "阴", "历") || p.has(i-2, "旧", "历") {
		return point{}, 0
	}
	for _, rule := range []func(int) (point, int){p.hanAgo, p.hanAbsolute, p.hanDayWord, p.hanWeek, p.hanYearWord, p.hanMonthWord, p.hanTrailing, p.hanDayAlone} {
		if pt, next := rule(i); next != 0 {
			return pt, next
		}
	}
	return point{}, 0
}

// hanStarts reports whether a date can begin with r.
func hanStarts(r int32) bool {
	switch r {
	case '大', '今', '昨', '明', '前', '后', '去', '过', '最', '近', '这', '上', '下', '本', '月', '年', '周', '星', '礼', '第', '几', '数', '好', '半', '廿', '卅':
		return true
	}
	return hanDigit(r) >= 0 || hanScale(r) > 0
}

// has reports whether the tokens from i on are these Chinese characters.
func (p *parser) has(i int, chars ...string) bool {
	if i < 0 {
		return false
	}
	for n, c := range chars {
		if t := p.toks[i+n]; t.kind != kindHan || t.val != int32([]rune(c)[0]) {
			return false
		}
	}
	return true
}

// oneOf reports whether token i is one of these Chinese characters.
func (p *parser) oneOf(i int, chars string) bool {
	t := p.toks[i]
	if t.kind != kindHan {
		return false
	}
	for _, r := range chars {
		if t.val == r {
			return true
		}
	}
	return false
}

// hanAbsolute reads 2026年3月12日, 三月十二日, 5月底, 2025年第二季度, 2023年夏天.
func (p *parser) hanAbsolute(i int) (point, int) {
	pt, next := p.hanDate(i)
	if next == 0 || p.oneOf(i-1, "第") && p.glued(i) {
		return point{}, 0
	}
	if pt.d != 0 {
		return pt, next
	}
	if pt.m != 0 {
		if t, after := p.hanThird(next); after != 0 {
			pt.third, next = t, after
		}
		return pt, next
	}
	if pt.y < oldestYear || pt.y > newestYear || p.oneOf(next, "前后内间多级") {
		return point{}, 0
	}
	if p.oneOf(next, "代") {
		return point{fixed: stretch(civil{pt.y, 1, 1}, civil{pt.y + 10, 1, 1}, memsearch.GranularityRange)}, next + 1
	}
	return p.inHanYear(pt, next)
}

// inHanYear reads what narrows a year: a month and day, a quarter, a season, a
// half, its beginning or end.
func (p *parser) inHanYear(pt point, i int) (point, int) {
	y := pt.y
	if p.han(i, '的') && !p.numeral(i+1) {
		if narrow, next := p.inHanYear(pt, i+1); next != i+1 {
			return narrow, next
		}
		return pt, i
	}
	if m, next := p.hanMonth(i); next != 0 {
		month := point{y: y, m: m}
		if d, after := p.hanDay(next); after != 0 && validDate(y, m, d) {
			month.d = d
			return month, after
		}
		if t, after := p.hanThird(next); after != 0 {
			month.third, next = t, after
		}
		return month, next
	}
	if q, next := p.hanQuarter(i); next != 0 {
		return point{y: y, quarter: q}, next
	}
	for n, c := range []string{"春", "夏", "秋", "冬"} {
		if p.has(i, c) && !p.oneOf(i+1, "节") {
			if i++; p.oneOf(i, "天季") {
				i++
			}
			return point{y: y, season: n + 1}, i
		}
	}
	switch {
	case p.has(i, "上", "半", "年"):
		return point{y: y, half: 1}, i + 3
	case p.has(i, "下", "半", "年"):
		return point{y: y, half: 2}, i + 3
	}
	for n, c := range []string{"初", "中", "底", "末"} {
		j := i
		if p.has(j, "年") {
			j++
		}
		if p.has(j, c) && (c != "中" || j > i) && (c != "初" || !p.oneOf(j+1, "次中步级")) {
			return point{y: y, third: min(n+1, 3)}, j + 1
		}
	}
	return pt, i
}

// hanThird reads 初, 中旬, 底 after a month.
func (p *parser) hanThird(i int) (n, next int) {
	switch {
	case p.has(i, "上", "旬"):
		return 1, i + 2
	case p.has(i, "中", "旬"):
		return 2, i + 2
	case p.has(i, "下", "旬"):
		return 3, i + 2
	case p.oneOf(i, "初") && !p.numeral(i+1) && !p.oneOf(i+1, "次中步级"):
		return 1, i + 1
	case p.oneOf(i, "中") && !p.oneOf(i+1, "国文学午间"):
		return 2, i + 1
	case p.oneOf(i, "底末"):
		return 3, i + 1
	}
	return 0, 0
}

func (p *parser) hanQuarter(i int) (q, next int) {
	if p.oneOf(i, "第") {
		i++
	}
	q, next = p.count(i)
	if next == 0 || q < 1 || q > 4 || !p.has(next, "季", "度") {
		return 0, 0
	}
	return q, next + 2
}

// hanDayWord reads 今天, 昨晚, 大前天.
func (p *parser) hanDayWord(i int) (point, int) {
	offset := 0
	j := i
	if p.has(j, "大") && p.oneOf(j+1, "前后") && p.has(j+2, "天") {
		offset, j = 1, j+1
	}
	switch a := p.toks[j].val; {
	case p.toks[j].kind != kindHan || p.toks[j+1].kind != kindHan:
		return point{}, 0
	case p.oneOf(j, "今昨明") && p.oneOf(j+1, "天日早晚晨夜"):
		if p.has(j, "明", "早") || p.has(j, "明", "晨") || a != '明' || p.oneOf(j+1, "天日晚") {
			offset = map[rune]int{'今': 0, '昨': -1, '明': 1}[a]
			if p.oneOf(i-1, "如至") && a == '今' && p.glued(i) || p.oneOf(i-1, "声文说证表黎简分发透") && a == '明' && p.glued(i) {
				return point{}, 0
			}
			return point{fixed: dayPeriod(p.today.days(offset))}, j + 2
		}
	case p.has(j, "前", "天") && !p.oneOf(i-1, "以之目") && !p.numeral(i-1), p.has(j, "前", "晚"):
		return point{fixed: dayPeriod(p.today.days(-2 - offset))}, j + 2
	case p.has(j, "后", "天") && !p.oneOf(j+2, "性失培形养习免") && !p.oneOf(i-1, "先和与或之以今"):
		return point{fixed: dayPeriod(p.today.days(2 + offset))}, j + 2
	}
	return point{}, 0
}

// hanUnit reads 天, 周, 个星期, 个月, 年, 季度.
func (p *parser) hanUnit(i int) (u unit, next int) {
	measure := p.han(i, '个')
	if measure {
		i++
	}
	switch {
	case p.oneOf(i, "天日") && !measure:
		return unitDay, i + 1
	case p.has(i, "星", "期"), p.has(i, "礼", "拜"):
		return unitWeek, i + 2
	case p.oneOf(i, "周") && !p.oneOf(i+1, "末岁边围"):
		return unitWeek, i + 1
	case p.oneOf(i, "月") && measure:
		return unitMonth, i + 1
	case p.has(i, "季", "度"):
		return unitQuarter, i + 2
	case p.oneOf(i, "年") && !measure:
		return unitYear, i + 1
	case p.has(i, "小", "时"), p.has(i, "钟", "头"):
		return unitHour, i + 2
	}
	return 0, 0
}

// hanQuantity reads 三十八, 几, 半, 一个半.
func (p *parser) hanQuantity(i int) (quantity, int) {
	if p.oneOf(i, "几数好") {
		if p.oneOf(i, "好") {
			if i++; !p.oneOf(i, "几") {
				return quantity{}, 0
			}
		}
		return quantity{n: manyFew, few: true}, i + 1
	}
	if p.oneOf(i, "半") {
		return quantity{half: true}, i + 1
	}
	n, next := p.count(i)
	if next == 0 || p.oneOf(i-1, "第初前后数") && p.glued(i) {
		return quantity{}, 0
	}
	if p.has(next, "个", "半") {
		return quantity{n: n, half: true}, next + 2
	}
	return quantity{n: n}, next
}

// hanAgo reads 三天前, 38天前, 两个月以前, 半年前, 几天前, 三天后.
func (p *parser) hanAgo(i int) (point, int) {
	q, next := p.hanQuantity(i)
	if next == 0 {
		return point{}, 0
	}
	u, next := p.hanUnit(next)
	if next == 0 {
		return point{}, 0
	}
	if p.oneOf(next, "半") && (u == unitYear || u == unitDay) && !q.half {
		q.half, next = true, next+1
	}
	if p.oneOf(next, "多来") {
		next++
	}
	if p.oneOf(next, "以之") {
		next++
	}
	if p.oneOf(next, "后") && p.opensClause(i) && !p.done(next+1) && !p.oneOf(next+1, "面续来果方勤排悔") && !p.hasDayOfMonth(i, next) &&
		!q.half && !q.few && u != unitHour && q.n <= maxAhead {
		return point{fixed: countBack(p.today, -q.n, u)}, next + 1
	}
	if !p.oneOf(next, "前") || p.oneOf(next+1, "后") || u == unitYear && q.n >= minYear {
		return point{}, 0
	}
	next++
	if u == unitHour {
		if q.half || q.few || q.n > maxCount(u) {
			return point{}, 0
		}
		return point{fixed: p.hoursAgo(q.n)}, next
	}
	if p.has(next, "的", "今", "天") && !q.half && !q.few {
		if pd, ok := sameDay(p.today, q.n, u); ok && q.n <= maxCount(u) {
			return point{fixed: pd}, next + 3
		}
	}
	pd, ok := p.ago(p.today, q, u)
	if !ok {
		return point{}, 0
	}
	return point{fixed: pd}, next
}

// opensClause reports whether a clause begins at token i, or nothing but a word
// for a place in time stands before it: what follows counts from today, and not
// from what was told before.
func (p *parser) opensClause(i int) bool {
	if p.oneOf(i-1, "在从到等") {
		i--
	}
	return p.toks[i-1].kind == kindBreak || p.toks[i-1].kind == kindMark && p.toks[i-1].val != '，' && p.toks[i-1].val != '。'
}

// hasDayOfMonth reports whether 日 stands in tokens [i, next): 5日后 is after the
// 5th.
func (p *parser) hasDayOfMonth(i, next int) bool {
	for ; i < next; i++ {
		if p.oneOf(i, "日") {
			return true
		}
	}
	return false
}

// hanTrailing reads 过去三天, 最近一周, 近两个月, 这几天, 前几天.
func (p *parser) hanTrailing(i int) (point, int) {
	j, bare := i, false
	switch {
	case p.has(j, "过", "去"), p.has(j, "最", "近"):
		j += 2
		if p.oneOf(j, "的这") {
			j++
		}
	case p.oneOf(j, "近") && !p.oneOf(j-1, "附接靠亲临最将远"):
		j++
	case p.oneOf(j, "这前") && (p.oneOf(j+1, "几") || p.has(j+1, "两", "天")) && !p.oneOf(j-1, "之以目"):
		j, bare = j+1, true
	default:
		return point{}, 0
	}
	q, next := p.hanAmount(j)
	if next == 0 {
		return point{}, 0
	}
	u, next := p.hanUnit(next)
	if next == 0 || q.n > maxCount(u) || p.oneOf(next, "前后级") || u == unitYear && q.few && !bare {
		return point{}, 0
	}
	if q.half {
		if u != unitYear {
			return point{}, 0
		}
		q.n, u = 6+12*q.n, unitMonth
	}
	pd := p.trailing(q.n, u)
	if bare && p.oneOf(i, "前") {
		pd.until = p.today
	}
	return point{fixed: pd}, next
}

// hanAmount is hanQuantity after a word that [parser.hanQuantity] would take
// for an ordinal.
func (p *parser) hanAmount(i int) (quantity, int) {
	if n, next := p.count(i); next != 0 {
		return quantity{n: n}, next
	}
	return p.hanQuantity(i)
}

// hanMonthWord reads 上个月, 本月, 下月, 上个月5号, 月底, 年初.
func (p *parser) hanMonthWord(i int) (point, int) {
	ahead, j := p.nearby(i)
	if j == 0 {
		return p.hanEdge(i)
	}
	if !p.oneOf(j, "月") || p.oneOf(j+1, "亮球光饼经") {
		return point{}, 0
	}
	month := back(p.today, -ahead, unitMonth)
	next := j + 1
	if p.oneOf(next, "份的") && (p.oneOf(next, "份") || p.numeral(next+1) || p.toks[next+1].kind == kindNumber) {
		next++
	}
	if d, after := p.hanDay(next); after != 0 && validDate(month.from.y, month.from.m, d) {
		return point{y: month.from.y, m: month.from.m, d: d}, after
	}
	if t, after := p.hanThird(next); after != 0 {
		return point{fixed: month, third: t}, after
	}
	return point{fixed: month}, next
}

// hanEdge reads 月底 and 年初 by themselves: the most recent one that has begun.
func (p *parser) hanEdge(i int) (point, int) {
	if !p.oneOf(i, "月年") || !p.oneOf(i+1, "初底末") || p.glued(i) && (p.numeral(i-1) || p.toks[i-1].kind == kindNumber) || p.oneOf(i-1, "每个半") {
		return point{}, 0
	}
	n := 3
	if p.oneOf(i+1, "初") {
		n = 1
	}
	u := unitMonth
	if p.oneOf(i, "年") {
		u = unitYear
	}
	pd := back(p.today, 0, u)
	if p.today.less(third(pd, n).from) {
		pd = back(p.today, 1, u)
	}
	return point{fixed: pd, third: n}, i + 2
}

// hanYearWord reads 去年, 前年, 今年三月, 去年夏天, 明年初.
func (p *parser) hanYearWord(i int) (point, int) {
	ahead, j := 0, i
	switch {
	case p.has(i, "大", "前", "年"):
		ahead, j = -1, i+1
	case p.has(i, "大", "后", "年"):
		ahead, j = 1, i+1
	}
	switch {
	case p.oneOf(j, "前") && !p.oneOf(i-1, "以之目") && !p.numeral(i-1):
		ahead -= 2
	case p.oneOf(j, "去"):
		ahead = -1
	case p.oneOf(j, "今"):
	case p.oneOf(j, "明"):
		ahead = 1
	case p.oneOf(j, "后") && !p.oneOf(i-1, "以之今"):
		ahead += 2
	default:
		return point{}, 0
	}
	if !p.oneOf(j+1, "年") || p.oneOf(j+2, "度级轻") && p.oneOf(j, "前后") {
		return point{}, 0
	}
	return p.inHanYear(point{y: p.today.y + ahead}, j+2)
}

// hanDayAlone reads 23号 and 二十三日 where nothing else can be meant.
func (p *parser) hanDayAlone(i int) (point, int) {
	d, next := p.hanDay(i)
	if next == 0 || p.glued(i) && (p.oneOf(i-1, "第年月周") || p.toks[i-1].kind == kindNumber) {
		return point{}, 0
	}
	before := p.oneOf(i-1, "在于到从是") || p.toks[i-1].kind == kindBreak || p.toks[i-1].kind == kindMark
	after := p.toks[next]
	ends := after.kind != kindHan || p.oneOf(next, "我你他她咱那这早晚上下中的去星周和到至做发有")
	if !ends || p.han(next-1, '日') && !before || p.han(next-1, '号') && p.has(next, "中") && !p.has(next, "中", "午") {
		return point{}, 0
	}
	return point{d: d}, next
}
