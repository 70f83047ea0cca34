package analysis

import "unicode/utf8"

// isEmoji reports whether r is a picture that counts as a word.
func isEmoji(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff && !(r >= 0x1f100 && r <= 0x1f16f) || r >= 0x2600 && r <= 0x27bf ||
		r >= 0x2b05 && r <= 0x2b55 || r >= 0x23e9 && r <= 0x23fa || r == 0x231a || r == 0x231b || r == 0x3030 || r == 0x303d
}

func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// isTag reports whether r is one of the invisible letters of a flag.
func isTag(r rune) bool { return r >= 0xe0020 && r <= 0xe007f }

func isFlagLetter(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// emoji takes the emoji that s begins with and returns its length. A joined
// emoji is one word, and each picture in it another; skin tones, genders and the
// joins themselves do not count.
func (t *tokenizer) emoji(s string) int {
	t.words++
	buf, n, pictures := t.buf[:0], 0, 0
	var first, second [2]int // ranges of pictures in buf
	for n < len(s) {
		r, k := utf8.DecodeRuneInString(s[n:])
		if r == zwj {
			n += k
			continue
		}
		if joined := n > 0; isTag(r) && joined || isSkinTone(r) && joined || r == vs16 {
			if isTag(r) {
				buf = utf8.AppendRune(buf, r)
			}
			n += k
			continue
		}
		after := n > 0 && n >= 3 && s[n-3:n] == "\u200d"
		if !isEmoji(r) || n > 0 && !after {
			break
		}
		from := len(buf)
		buf = utf8.AppendRune(buf, r)
		n += k
		if isFlagLetter(r) && n < len(s) {
			if r, k := utf8.DecodeRuneInString(s[n:]); isFlagLetter(r) {
				buf = utf8.AppendRune(buf, r)
				n += k
			}
		}
		if r == 0x2640 || r == 0x2642 { // the gender of a person
			if from > 0 {
				buf = buf[:from]
				continue
			}
		}
		pictures++
		if pictures == 1 {
			first = [2]int{from, len(buf)}
		} else {
			second = [2]int{from, len(buf)}
			t.emit(token{kind: KindEmoji, text: buf[second[0]:second[1]], optional: true})
		}
	}
	t.buf = buf
	if pictures > 1 {
		t.emit(token{kind: KindEmoji, text: buf[first[0]:first[1]], optional: true})
	}
	if len(buf) > 0 {
		t.emit(token{kind: KindEmoji, text: buf})
	}
	return n
}
