package when

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
)

// Years of folders, which may be numbers of anything.
const (
	oldestFolder = 1990
	newestFolder = 2100
)

// The ends of the paths of files, without extension, that are named after a day
// within folders named after its year and month, with the words behind the day.
var filed = []*regexp.Regexp{
	regexp.MustCompile(`(?:^|/)(\d{4})(?:年/?|[/._-])?(\d\d?)月?(?:[ _-]\p{L}+)?/(\d\d?)[日号]?([ _-]+\D.*|)$`), // 2026/03/14, 2026-03/14, 2026/03-March/14 standup
	regexp.MustCompile(`(?:^|/)(\d{4})年?/(\d\d?)[月._-](\d\d?)[日号]?([ _-]+\D.*|)$`),                          // 2026/03-14
}

// FilePath finds the full date of a file by its slash-separated path: that of
// its name, see [FileName], or what its folders add to it, as 2026/03/14.md and
// 2026-03/14-standup.md. Alone reports that the folders and the name say nothing
// but the day.
func FilePath(name string, loc *time.Location) (span memsearch.Span, gran memsearch.Granularity, alone, ok bool) {
	if span, gran, ok = FileName(path.Base(name), loc); ok {
		return span, gran, false, true
	}
	day, alone, ok := filedDay(strings.TrimSuffix(name, path.Ext(name)))
	if !ok {
		return memsearch.Span{}, 0, false, false
	}
	return dayPeriod(day).span(orUTC(loc)), memsearch.GranularityDay, alone, true
}

// Folder finds the full date of the innermost folder of a path that is named
// after a day: 2026-03-14/notes.md, 2026/03/14/notes.md.
func Folder(name string, loc *time.Location) (memsearch.Span, memsearch.Granularity, bool) {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if base := path.Base(dir); startsDigit(base) {
			if span, gran, ok := FileName(base, loc); ok {
				return span, gran, true
			}
		}
		if day, _, ok := filedDay(dir); ok {
			return dayPeriod(day).span(orUTC(loc)), memsearch.GranularityDay, true
		}
	}
	return memsearch.Span{}, 0, false
}

func filedDay(stem string) (day civil, alone, ok bool) {
	if len(stem) > maxPath {
		return civil{}, false, false
	}
	for _, re := range filed {
		if m := re.FindStringSubmatch(stem); m != nil {
			var n [3]int
			for i := range n {
				n[i], _ = strconv.Atoi(m[i+1]) // at most four digits
			}
			if n[0] >= oldestFolder && n[0] <= newestFolder && validDate(n[0], n[1], n[2]) {
				return civil{n[0], n[1], n[2]}, m[4] == "", true
			}
		}
	}
	return civil{}, false, false
}

const maxPath = 4096
