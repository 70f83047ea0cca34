package when

// hanDigit returns the value of a Chinese digit, or -1.
func hanDigit(r rune) int {
	switch r {
	case '〇':
		return 0
	case '一':
		return 1
	case '二', '两':
		return 2
	case '三':
		return 3
	case '四':
		return 4
	case '五':
		return 5
	case '六':
		return 6
	case '七':
		return 7
	case '八':
		return 8
	case '九':
		return 9
	}
	return -1
}

func hanScale(r rune) int {
	switch r {
	case '十':
		return 10
	case '百':
		return 100
	case '千':
		return 1000
	}
	return 0
}

// numeral reports whether token i is a Chinese numeral.
func (p *parser) numeral(i int) bool {
	t := p.toks[i]
	if t.kind != kindHan {
		return false
	}
	switch t.val {
	case '廿', '卅', '万', '亿':
		return true
	}
	return hanDigit(t.val) >= 0 || hanScale(t.val) > 0
}

// longestNumeral bounds the characters of a Chinese number: 九千九百九十九.
const longestNumeral = 8

// count reads a number of digits or of Chinese numerals: 38, 三十八, 廿三.
func (p *parser) count(i int) (n, next int) {
	if p.toks[i].kind == kindNumber {
		if n, ok := p.number(i, 5); ok && p.begins(i) {
			return n, i + 1
		}
		return 0, 0
	}
	if !p.numeral(i) || p.numeral(i-1) && p.glued(i) {
		return 0, 0
	}
	total, digit, last := 0, -1, 10000
	for next = i; p.numeral(next) && next-i <= longestNumeral; next++ {
		r := p.toks[next].val
		switch d, scale := hanDigit(r), hanScale(r); {
		case d >= 0:
			if digit > 0 {
				return 0, 0
			}
			digit = d
		case scale > 0:
			if scale >= last {
				return 0, 0
			}
			if digit < 0 {
				digit = 1
			}
			total, digit, last = total+digit*scale, -1, scale
		case next == i && (r == '廿' || r == '卅'):
			total, last = 20, 10
			if r == '卅' {
				total = 30
			}
		default:
			return 0, 0
		}
	}
	if next-i > longestNumeral {
		return 0, 0
	}
	return total + max(digit, 0), next
}

// hanYear reads the four digits of a year: 2023 or 二〇二三.
func (p *parser) hanYear(i int) (y, next int) {
	if y, ok := p.year(i); ok && p.begins(i) {
		return y, i + 1
	}
	if p.numeral(i-1) && p.glued(i) {
		return 0, 0
	}
	for next = i; next < i+4; next++ {
		if p.toks[next].kind != kindHan {
			return 0, 0
		}
		d := hanDigit(p.toks[next].val)
		if d < 0 || p.toks[next].val == '两' {
			return 0, 0
		}
		y = y*10 + d
	}
	if y < minYear || p.numeral(next) {
		return 0, 0
	}
	return y, next
}

// hanDate reads 2026年3月12日, 2026年3月, 2026年, 三月十二日, 3月5号, 23年5月 and 5月.
func (p *parser) hanDate(i int) (point, int) {
	var pt point
	next := i
	if y, after := p.hanYear(i); after != 0 && p.han(after, '年') {
		pt.y, next = y, after+1
	} else if y, ok := p.number(i, 2); ok && p.toks[i].digits == 2 && p.han(i+1, '年') && p.begins(i) {
		if m, after := p.hanMonth(i + 2); m == 0 || after == 0 {
			return point{}, 0
		}
		pt.y, next = 2000+y, i+2
		if y >= 70 {
			pt.y = 1900 + y
		}
	}
	m, after := p.hanMonth(next)
	if after == 0 {
		if pt.y == 0 {
			return point{}, 0
		}
		return pt, next
	}
	pt.m, next = m, after
	if d, after := p.hanDay(next); after != 0 && validDate(orLeap(pt.y), m, d) {
		pt.d, next = d, after
	} else if after != 0 {
		return point{}, 0
	}
	return pt, next
}

func (p *parser) hanMonth(i int) (m, next int) {
	m, next = p.count(i)
	if next == 0 || m < 1 || m > 12 || !p.han(next, '月') || p.han(i-1, '第') {
		return 0, 0
	}
	if next++; p.han(next, '份') {
		next++
	}
	return m, next
}

func (p *parser) hanDay(i int) (d, next int) {
	d, next = p.count(i)
	if next == 0 || d < 1 || d > 31 || !p.han(next, '日') && !p.han(next, '号') {
		return 0, 0
	}
	return d, next + 1
}
