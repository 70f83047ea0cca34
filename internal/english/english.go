// Package english writes what the messages for people have in common.
package english

import (
	"strconv"
	"strings"
)

// Count writes n of something that is called one: "1 file", "2 files",
// "3 memories".
func Count(n int, one string) string {
	switch stem, y := strings.CutSuffix(one, "y"); {
	case n == 1:
	case y:
		one = stem + "ies"
	case strings.HasSuffix(one, "x"):
		one += "es"
	default:
		one += "s"
	}
	return strconv.Itoa(n) + " " + one
}
