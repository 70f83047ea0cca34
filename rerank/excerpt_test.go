package rerank_test

import (
	"strings"
	"testing"

	"github.com/memsearch/memsearch/rerank"
)

// TestExcerpt: of a long note the part is shown that speaks of what is asked.
func TestExcerpt(t *testing.T) {
	english := strings.Repeat("The harbour was quiet and the boats stayed in. ", 40)
	chinese := strings.Repeat("港口很安静，船都没有出海。", 40)
	for name, c := range map[string]struct {
		query, text string
		want        string // stands in what is shown
		head, tail  bool   // begins and ends as the text does
	}{
		"short":           {"where does Anna live", "Anna lives in Porto.", "Anna lives in Porto.", true, true},
		"at the head":     {"where does Anna live", "Anna lives in Porto. " + english, "Anna lives in Porto.", true, false},
		"in the middle":   {"where does Anna live", english + "Anna lived in Porto. " + english, "Anna lived in Porto.", false, false},
		"at the end":      {"where does Anna live", english + "Anna lives in Porto.", "Anna lives in Porto.", false, true},
		"on a line":       {"Anna's home", strings.ReplaceAll(english, ". ", "\n") + "- Anna: Porto\n- Ben: Faro", "- Anna: Porto\n", false, true},
		"Chinese":         {"安娜住在哪里？", chinese + "安娜住在波尔图。" + chinese, "安娜住在波尔图。", false, false},
		"common words":    {"the boats of Anna", english + "Anna sold hers. " + english, "Anna sold hers.", false, false},
		"other language":  {"安娜住在哪里？", english + "Anna lives in Porto. " + english, "The harbour", true, false},
		"no query":        {" ", english, "The harbour", true, false},
		"one long line":   {"zebra", strings.Repeat("x", 3000) + " zebra", "xxx", true, false},
		"too deep":        {"zebra", strings.Repeat(english, 40) + "A zebra.", "The harbour", true, false},
		"a word per line": {"zebra", strings.Repeat("a\n", 900) + "zebra\n" + strings.Repeat("b\n", 900), "\nzebra\n", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			tk := rerank.Task{Query: c.query, Candidates: []rerank.Candidate{{Text: c.text}}}
			f := says(`{"ranking":[]}`)
			if _, err := rerank.NewListwise(f, nil).Rerank(t.Context(), tk); err != nil {
				t.Fatal(err)
			}
			_, after, _ := strings.Cut(f.asked[0].Messages[1].Content, "\nCandidates:\n")
			s, err := parse("Query: \"q\"\n\nCandidates:\n" + after)
			if err != nil {
				t.Fatal(err)
			}
			text := val(s.lines[0].Text)
			if !strings.Contains(text, c.want) || strings.HasPrefix(text, "… ") == c.head || strings.HasSuffix(text, "…") == c.tail {
				t.Errorf("shown %q", text)
			}
			plain := strings.TrimSuffix(strings.TrimPrefix(text, "… "), "…")
			if !strings.Contains(c.text, plain) {
				t.Errorf("%q does not stand in the text", plain)
			}
		})
	}
}
