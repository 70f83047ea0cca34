package memfile

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

const byteOrderMark = "\ufeff"

// Decode returns raw as valid UTF-8 without a byte order mark, and what was odd
// about it. Line ends stay as they are, NUL becomes a space.
//
// UTF-16 and UTF-32 are known by their byte order mark, UTF-16 also by its
// zeros. What is not UTF-8 is read as GB18030 when it looks like Chinese text,
// as Windows-1252 when no byte sequence of it is UTF-8, and otherwise as UTF-8
// with U+FFFD for what is broken.
func Decode(raw []byte) (string, []Problem) {
	if text, name, ok := decodeWide(raw); ok {
		text, problems := withoutNUL(text)
		return text, append([]Problem{encodingProblem("the file is "+name+", not UTF-8", true)}, problems...)
	}
	raw = bytes.TrimPrefix(raw, []byte(byteOrderMark))
	if utf8.Valid(raw) {
		return withoutNUL(string(raw))
	}
	text, name, lossless := decodeBytes(raw)
	text, problems := withoutNUL(text)
	message := "the file is not valid UTF-8; what is broken was replaced"
	if lossless {
		message = "the file is not UTF-8; it was read as " + name
	}
	return text, append([]Problem{encodingProblem(message, lossless)}, problems...)
}

func encodingProblem(message string, fixable bool) Problem {
	return Problem{Code: ProblemEncoding, Message: message, Fixable: fixable}
}

func withoutNUL(text string) (string, []Problem) {
	before, _, ok := strings.Cut(text, "\x00")
	if !ok {
		return text, nil
	}
	line := 1 + strings.Count(before, "\n")
	return strings.ReplaceAll(text, "\x00", " "), []Problem{{
		Code: ProblemNUL, Message: "the file holds NUL bytes; they are read as spaces", Line: line, Fixable: true,
	}}
}

// decodeWide decodes UTF-16 and UTF-32.
func decodeWide(raw []byte) (text, name string, ok bool) {
	var enc encoding.Encoding
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(raw, []byte{0, 0, 0xfe, 0xff}):
		enc, name = utf32.UTF32(utf32.BigEndian, utf32.UseBOM), "UTF-32"
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}), bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		enc, name = unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "UTF-16"
	default:
		little, wide := zerosOf(raw)
		if !wide {
			return "", "", false
		}
		order := unicode.BigEndian
		if little {
			order = unicode.LittleEndian
		}
		enc, name = unicode.UTF16(order, unicode.IgnoreBOM), "UTF-16 without a byte order mark"
	}
	out, err := enc.NewDecoder().Bytes(raw)
	if err != nil {
		return "", "", false
	}
	return strings.ToValidUTF8(string(out), "\ufffd"), name, true
}

// zerosOf reports whether raw is UTF-16 by its zeros: most Latin text has one in
// nearly every second byte and none between.
func zerosOf(raw []byte) (little, wide bool) {
	head := raw[:min(len(raw), 4096)&^1]
	if len(head) < 8 {
		return false, false
	}
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i&1]++
		}
	}
	half := len(head) / 2
	most, few := half*6/10, half/20
	return zeros[1] > zeros[0], max(zeros[0], zeros[1]) > most && min(zeros[0], zeros[1]) <= few
}

// decodeBytes decodes what is not valid UTF-8. lossless says that no byte was
// replaced.
func decodeBytes(raw []byte) (text, name string, lossless bool) {
	good, high := multibyte(raw)
	if good*2 <= high && looksGB(raw) {
		out, err := simplifiedchinese.GB18030.NewDecoder().Bytes(raw)
		if err == nil && !bytes.ContainsRune(out, utf8.RuneError) {
			return string(out), "GB18030", true
		}
	}
	if good == 0 {
		if out, err := charmap.Windows1252.NewDecoder().Bytes(raw); err == nil && utf8.Valid(out) {
			return string(out), "Windows-1252", !bytes.ContainsRune(out, utf8.RuneError)
		}
	}
	return strings.ToValidUTF8(string(raw), "\ufffd"), "", false
}

// multibyte returns how many bytes of raw are part of a valid UTF-8 sequence of
// several bytes, and how many are not ASCII.
func multibyte(raw []byte) (good, high int) {
	for len(raw) > 0 {
		if raw[0] < utf8.RuneSelf {
			raw = raw[1:]
			continue
		}
		_, n := utf8.DecodeRune(raw)
		high += n
		if n > 1 {
			good += n
		}
		raw = raw[n:]
	}
	return good, high
}

// looksGB reports whether most two-byte sequences of raw lie in the GB 2312 part
// of GB18030, whose second byte is never ASCII. An accented letter of a Western
// encoding is followed by ASCII instead.
func looksGB(raw []byte) bool {
	var pairs, inside int
	for i := 0; i < len(raw); i++ {
		if raw[i] < 0x81 {
			continue
		}
		if i+1 < len(raw) {
			pairs++
			if raw[i] >= 0xa1 && raw[i+1] >= 0xa1 {
				inside++
			}
			i++
		}
	}
	return inside*10 >= pairs*8 && inside > 0
}
