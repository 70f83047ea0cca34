package memfile

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PathID returns the id of a memory whose file has none. Files at different
// paths have different ids, and a file keeps its id until it is moved.
func PathID(path string) string {
	return "path_" + digest(path)
}

// digest returns the first 64 bits of the SHA-256 of s in hex.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// usableID reports whether an id from front matter can stand in unit ids, lists
// and attributes.
func usableID(id string) bool {
	if id == "" || len(id) > 256 {
		return false
	}
	for _, r := range id {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune(`#"<>,`, r) {
			return false
		}
	}
	return true
}

const maxSlug = 48

// slug returns the letters and digits of s in lower case, a dash for what
// stands between them, at most maxSlug bytes.
func slug(s string) string {
	var b strings.Builder
	dash := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) {
			dash = b.Len() > 0
			continue
		}
		r = unicode.ToLower(r)
		if b.Len()+1+utf8.RuneLen(r) > maxSlug {
			break
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
