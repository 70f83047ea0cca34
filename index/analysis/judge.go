package analysis

// isHex reports whether the pieces are one hexadecimal id: at least [MinHex]
// digits, decimal ones among them, without separators or as a UUID.
func (t *tokenizer) isHex() bool {
	n := len(t.pieces)
	if t.isUUID(0, n) || t.isPairs(0, n) {
		return true
	}
	size, decimal := 0, false
	for i, p := range t.pieces {
		if i > 0 && p.sep != 0 {
			return false
		}
		for _, c := range t.buf[p.from:p.to] {
			if !isHexDigit(c) {
				return false
			}
		}
		size += p.to - p.from
		decimal = decimal || p.digits
	}
	return size >= MinHex && decimal
}

func isHexDigit(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' }

// isUUID reports whether the pieces are 8, 4, 4, 4 and 12 hexadecimal digits.
func (t *tokenizer) isUUID(lo, hi int) bool {
	if hi <= lo {
		return false
	}
	from, to := t.pieces[lo].from, t.pieces[hi-1].to
	if to-from != 32 {
		return false
	}
	for _, c := range t.buf[from:to] {
		if !isHexDigit(c) {
			return false
		}
	}
	dashes := 0
	for _, p := range t.pieces[lo+1 : hi] {
		if p.sep == 0 {
			continue
		}
		switch at := p.from - from; {
		case p.sep != '-', at != 8 && at != 12 && at != 16 && at != 20:
			return false
		}
		dashes++
	}
	return dashes == 4
}

// isPairs reports whether the pieces are at least six pairs of hexadecimal
// digits with the same mark between them, as an address of a network card or a
// fingerprint is written: 00:1B:44:11:3A:B7.
func (t *tokenizer) isPairs(lo, hi int) bool {
	if hi-lo < 6 {
		return false
	}
	from, sep := t.pieces[lo].from, byte(0)
	for i := lo + 1; i <= hi; i++ {
		if i < hi && t.pieces[i].sep == 0 {
			continue
		}
		if to := t.pieces[i-1].to; to-from != 2 || !isHexDigit(t.buf[from]) || !isHexDigit(t.buf[from+1]) {
			return false
		}
		if i == hi {
			break
		}
		p := t.pieces[i]
		if p.sep != ':' && p.sep != '-' || sep != 0 && p.sep != sep {
			return false
		}
		from, sep = p.from, p.sep
	}
	return sep != 0 && (t.pieces[hi-1].to-t.pieces[lo].from) >= 12
}

// isIdentifier reports whether the pieces name one thing, so that a text which
// holds just that name is about it. Words joined by a hyphen or a slash, times,
// dates, amounts and ages do not.
func (t *tokenizer) isIdentifier() bool {
	digits, letters := 0, 0
	seps := map[byte]int{}
	for i, p := range t.pieces {
		if p.digits {
			digits++
		} else {
			letters++
		}
		if i > 0 {
			seps[p.sep]++
		}
	}
	switch {
	case letters == 0:
		return t.numbers(seps)
	case digits > 0:
		return t.mixed(seps)
	}
	return t.letters(seps)
}

// numbers judges 2.6.3, 10.0.0.1 and 555-0199-12: three groups or seven digits,
// but not dates and times.
func (t *tokenizer) numbers(seps map[byte]int) bool {
	n, size := len(t.pieces), t.pieces[len(t.pieces)-1].to-t.pieces[0].from
	if seps[':'] > 0 || n == 3 && size <= 8 && seps['.'] == 0 {
		return false
	}
	return n >= 3 || size >= 7
}

// mixed judges letters with digits: not 8am, 5k, 24-hour or 3-day-trip.
func (t *tokenizer) mixed(seps map[byte]int) bool {
	first := t.pieces[0]
	if !first.digits || first.to-first.from > 4 {
		return true
	}
	if n := len(t.pieces); seps['-'] == n-1 {
		return false
	}
	return len(t.pieces) > 2 || t.pieces[1].sep != 0 || t.pieces[1].to-t.pieces[1].from > 3
}

// letters judges names without digits.
func (t *tokenizer) letters(seps map[byte]int) bool {
	n := len(t.pieces)
	switch {
	case seps['_']+seps[sepScope]+seps['\\']+seps[sepArrow]+seps['@']+seps['=']+seps[':'] > 0, seps['/'] > 1:
		return true
	case seps['.'] > 0: // not e.g. and U.S.
		for i, p := range t.pieces {
			if (p.sep == '.' || i == 0) && p.to-p.from < 2 {
				return false
			}
		}
		return true
	case seps['/'] > 0:
		return false
	case seps['-'] > 0:
		for _, p := range t.pieces {
			if !p.caps || p.to-p.from < 2 {
				return false
			}
		}
		return true
	}
	return seps[0] > 0 && n > 1 && t.isCamel()
}

// isCamel reports whether a change of case makes a name of code: not McDonald.
func (t *tokenizer) isCamel() bool {
	p := t.pieces[0]
	switch string(t.buf[p.from:p.to]) {
	case "mc", "mac", "ph", "i", "e":
		return false
	}
	return true
}
