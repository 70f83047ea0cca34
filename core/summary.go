package core

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// Summarise returns what can stand as the summary of a memory with this text: its
// first line without Markdown marks, cut after the last sentence or else the last
// word that fits into [vault.MaxSummary] characters.
func Summarise(text string) string {
	var line string
	for l := range strings.Lines(strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\r", "\n")) {
		l = strings.Join(strings.FieldsFunc(l, blank), " ")
		if line = memfile.TrimCallout(strings.TrimLeft(l, "#>*-+ ")); line != "" {
			break
		}
	}
	if utf8.RuneCountInString(line) <= vault.MaxSummary {
		return line
	}
	head := []rune(line)[:vault.MaxSummary]
	for i := len(head) - 1; i > 0; i-- {
		if strings.ContainsRune("。！？", head[i]) || i+1 < len(head) && strings.ContainsRune(".!?", head[i]) && head[i+1] == ' ' {
			return string(head[:i+1])
		}
	}
	short := string(head[:len(head)-1])
	if i := strings.LastIndexByte(short, ' '); i > 0 {
		short = short[:i]
	}
	return short + "…"
}

func blank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}
