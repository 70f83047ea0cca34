package memfile

// TopHeadings returns the first line, counted from 1, and the level of every
// heading of the top level.
func TopHeadings(text string) [][2]int {
	var out [][2]int
	for _, h := range scanBody(text, splitLines(text), 0).headings {
		out = append(out, [2]int{h.first + 1, h.level})
	}
	return out
}

// TopBullets returns the lines, counted from 1, on which items of bullet lists of
// the top level start.
func TopBullets(text string) []int {
	var out []int
	for i, m := range scanBody(text, splitLines(text), 0).mark {
		if m&markBullet != 0 {
			out = append(out, i+1)
		}
	}
	return out
}
