package escape

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Brackets that look like those of tags, and what closes one. Some are quotation
// marks of prose, so that only a whole tag between them counts.
const (
	likeOpening = "‹«〈〈⟨《⟪❮❬❰˂ᐸ≪⋖"
	likeClosing = ">＞﹥›»〉〉⟩》⟫❯❭❱˃ᐳ≫⋗"
)

// Whole names of tags that carry authority, for what stands between brackets that
// prose uses too.
var (
	tagNames = []string{"memory", "memories", "system", "sys", "user", "assistant", "human", "developer", "tool", "function",
		"instruction", "instructions", "inst", "prompt", "context", "thinking", "think", "policy", "admin"}
	hanNames = []string{"记忆", "記憶", "系统", "系統", "系统提示", "系統提示", "用户", "用戶", "助手", "助理", "人类", "人類",
		"开发者", "開發者", "指令", "提示", "提示词", "提示詞", "工具", "上下文", "管理员", "管理員"}
)

// maxTag is how many characters of a tag are looked at.
const maxTag = 64

// wholeTag reports whether what follows a bracket that looks like that of a tag
// is one, up to a bracket that looks like its other half.
func wholeTag(s string) bool {
	inner, n := strings.Builder{}, 0
	for _, r := range s {
		if strings.ContainsRune(likeClosing, r) || r == '\n' || n == maxTag {
			break
		}
		n++
		inner.WriteString(fold(r))
	}
	text := strings.TrimSpace(inner.String())
	bare := strings.TrimLeft(text, "/\\ ")
	closes := bare != text
	name := bare
	if i := strings.IndexFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' && r != '-' }); i >= 0 {
		name = bare[:i]
	}
	rest := strings.TrimSpace(bare[len(name):])
	switch {
	case name == "":
		return strings.HasPrefix(bare, "|")
	case rest != "" && !strings.Contains(rest, "=") && rest != "/":
		return false
	case slices.Contains(hanNames, name) || slices.Contains(tagNames, name):
		return true
	}
	return (closes || strings.ContainsAny(name, "_-")) && isReserved(name)
}

func isReserved(name string) bool {
	return slices.ContainsFunc(reserved, func(p string) bool { return strings.HasPrefix(name, p) })
}

// fold returns the plain lower-case form of a character: full-width and
// mathematical letters lose their dress, marks and what shows nothing go, and
// Cyrillic and Greek letters become the Latin ones that they look like.
func fold(r rune) string {
	if r < utf8.RuneSelf {
		return string(unicode.ToLower(r))
	}
	if hidden(r) || r == '\u200c' || r == '\u200d' {
		return ""
	}
	return strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		if i := slices.Index(lookalikes, r); i >= 0 {
			return rune(plain[i])
		}
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(string(r)))
}

var (
	lookalikes = []rune("аеорсухѕітмнυοαορεντ")
	plain      = "aeopcyxsitmhuoaopevt"
)

// A role line is how transcripts name a speaker, in the forms that models have
// learned: "System:", "**Assistant:**", "系统：", "### System".
var (
	spoken  = regexp.MustCompile(`^ {0,3}(?:> ?)*(#{1,6} *)?[*_\[【]{0,3}(system|sys|assistant|human|user|developer|系统|系統|助手|助理|用户|用戶|人类|人類|开发者|開發者)(?: ?(?:prompt|messages?|instructions?|提示词|提示詞|提示|消息|指令))?[*_\]】]{0,3} *[:∶꞉]`)
	heading = regexp.MustCompile(`^ {0,3}(?:> ?)*#{1,6} *[*_]{0,3}(?:(?:system|assistant|human|developer|系统|系統|助手|助理)(?: ?(?:prompt|messages?|instructions?|提示词|提示詞|提示|消息|指令))?[*_]{0,3} *:?|(?:instructions?|response) *:)[*_ #]*$`)
)

// Roles makes lines that begin as a speaker's turn does plain text: the colon
// behind the role, or the first mark of its heading, becomes an entity.
func Roles(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = quoteRole(l)
	}
	return strings.Join(lines, "\n")
}

func quoteRole(l string) string {
	folded, at := foldStart(l)
	if m := spoken.FindStringSubmatchIndex(folded); m != nil && !(folded[m[4]:m[5]] == "user" && isLower(l[at[m[4]]:])) {
		colon := at[m[1]-1]
		_, n := utf8.DecodeRuneInString(l[colon:])
		l = l[:colon] + "&#58;" + l[colon+n:]
		if m[2] < 0 {
			return l
		}
	} else if !heading.MatchString(folded) {
		return l
	}
	return strings.Replace(l, "#", "&#35;", 1)
}

// isLower reports whether s begins with a lower-case letter. A user in lower case
// is a setting, in every other file.
func isLower(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}

// foldStart folds the first characters of a line. at says for each byte of the
// result where in l its character begins.
func foldStart(l string) (folded string, at []int) {
	var b strings.Builder
	n := 0
	for i, r := range l {
		if n++; n > maxTag {
			break
		}
		f := fold(r)
		if r == '\t' {
			f = " "
		}
		b.WriteString(f)
		for range len(f) {
			at = append(at, i)
		}
	}
	return b.String(), at
}
