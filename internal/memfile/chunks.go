package memfile

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of [Chunks].
const (
	DefaultChunk = 1600  // bytes, when the caller names no size
	MaxChunks    = 60000 // pieces of a text
	minChunk     = 32    // bytes; a smaller size is read as this
)

// Chunks cuts text into half-open byte ranges of at most max bytes that follow
// one another and cover it. It cuts between paragraphs where it can, else
// between lines, sentences, words and at last runes, and never inside a rune; a
// code fence stays whole when it fits into a chunk. max grows for a text that
// would need more than [MaxChunks] pieces. Empty text has no chunks.
func Chunks(text string, max int) [][2]int {
	if max <= 0 {
		max = DefaultChunk
	}
	if max < minChunk {
		max = minChunk
	}
	// Every piece but the last is longer than a quarter of max.
	if least := len(text)/(MaxChunks/4) + 1; max < least && len(text)/(max/4) >= MaxChunks {
		max = least + 3
	}
	if text == "" {
		return nil
	}
	if len(text) <= max {
		return [][2]int{{0, len(text)}}
	}
	fences := fenceSpans(text)
	out := make([][2]int, 0, len(text)/max*4/3+1)
	for from := 0; from < len(text); {
		to := len(text)
		if to-from > max {
			to = cutPoint(text, from, from+max, fences)
		}
		out = append(out, [2]int{from, to})
		from = to
	}
	return out
}

// cutPoint returns where to end the chunk that starts at from and may reach to
// limit.
func cutPoint(text string, from, limit int, fences [][2]int) int {
	half, quarter := from+(limit-from)/2, from+(limit-from)/4
	if f := fenceAt(fences, limit); f[1] > 0 && f[0] > quarter {
		// The fence does not fit behind what stands before it.
		if at := lastParagraph(text, half, f[0]); at > 0 {
			return at
		}
		return f[0]
	}
	if at := lastOutside(text, half, limit, fences, lastParagraph); at > 0 {
		return at
	}
	if at := lastOutside(text, quarter, limit, fences, lastLine); at > 0 {
		return at
	}
	if at := lastLine(text, half, limit); at > 0 {
		return at
	}
	if at := lastSentence(text, half, limit); at > 0 {
		return at
	}
	if at := lastSpace(text, half, limit); at > 0 {
		return at
	}
	for limit > quarter+1 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	if text[limit] == '\n' && text[limit-1] == '\r' {
		limit--
	}
	return limit
}

// lastOutside returns the last point that find finds outside every fence.
func lastOutside(text string, low, high int, fences [][2]int, find func(string, int, int) int) int {
	for {
		at := find(text, low, high)
		if at <= 0 {
			return 0
		}
		f := fenceAt(fences, at)
		if f[1] == 0 {
			return at
		}
		if high = f[0]; high <= low {
			return 0
		}
	}
}

// fenceAt returns the fence that at lies inside of, so that a cut there would
// break it.
func fenceAt(fences [][2]int, at int) [2]int {
	i, _ := slices.BinarySearchFunc(fences, at, func(f [2]int, at int) int { return f[1] - at })
	if i < len(fences) && fences[i][0] < at && at < fences[i][1] {
		return fences[i]
	}
	return [2]int{}
}

// lastParagraph returns the last start of a paragraph in (low, high].
func lastParagraph(text string, low, high int) int {
	for at := high; ; {
		at = lastLine(text, low, at)
		if at <= 0 {
			return 0
		}
		before := strings.TrimRight(text[low:at], " \t\r\n")
		if gap := text[low+len(before) : at]; strings.Count(gap, "\n") > 1 || strings.Count(gap, "\r") > 1 && !strings.Contains(gap, "\n") {
			return at
		}
		at--
	}
}

// lastLine returns the last start of a line in (low, high].
func lastLine(text string, low, high int) int {
	for at := high; at > low; at-- {
		switch c := text[at-1]; {
		case c == '\n', c == '\r' && (at == len(text) || text[at] != '\n'):
			return at
		}
	}
	return 0
}

// lastSentence returns the last point behind a sentence in (low, high].
func lastSentence(text string, low, high int) int {
	for at := high; at > low; at-- {
		if !utf8.RuneStart(text[at]) {
			continue
		}
		switch r, size := utf8.DecodeLastRuneInString(text[:at]); r {
		case '。', '！', '？', '；':
			return at
		case ' ', '\t':
			if end := at - size - 1; end >= low && strings.IndexByte(".!?;", text[end]) >= 0 {
				return at
			}
		}
	}
	return 0
}

// lastSpace returns the last point behind a space or a Chinese comma in (low,
// high].
func lastSpace(text string, low, high int) int {
	for at := high; at > low; at-- {
		if !utf8.RuneStart(text[at]) {
			continue
		}
		switch r, _ := utf8.DecodeLastRuneInString(text[:at]); r {
		case ' ', '\t', '，', '、', '：', '\u3000':
			return at
		}
	}
	return 0
}

// fenceSpans returns the byte ranges of the code fences in text, from the start
// of the first line to the start of the line behind the last.
func fenceSpans(text string) [][2]int {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return nil
	}
	var out [][2]int
	lines := splitLines(text)
	fence, start := "", 0
	for i, l := range lines {
		t := strings.TrimLeft(l.of(text), " \t")
		switch {
		case fence == "":
			if open, ok := opensFence(t); ok {
				fence, start = open, int(l.start)
			}
		case closesFence(t, fence):
			out = append(out, [2]int{start, nextStart(text, lines, i)})
			fence = ""
		}
	}
	if fence != "" {
		out = append(out, [2]int{start, len(text)})
	}
	return out
}
