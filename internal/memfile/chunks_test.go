package memfile_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/memsearch/memsearch/internal/memfile"
	"pgregory.net/rapid"
)

func TestChunks(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		max        int
		want       []string
	}{
		{"empty", "", 40, nil},
		{"fits", "short", 40, []string{"short"}},
		{"paragraphs", "one two three four five\n\nsix seven eight nine\n\nten", 40, []string{"one two three four five\n\n", "six seven eight nine\n\nten"}},
		{"lines", "one two three four five\nsix seven eight nine\nten", 40, []string{"one two three four five\n", "six seven eight nine\nten"}},
		{"CRLF", "one two three four five\r\nsix seven eight nine\r\nten", 40, []string{"one two three four five\r\n", "six seven eight nine\r\nten"}},
		{"sentences", "One two three. Four five six seven. Eight nine ten.", 40, []string{"One two three. Four five six seven. ", "Eight nine ten."}},
		{"Chinese sentences", "考拉喜欢桉树。考拉每天睡二十个小时。", 40, []string{"考拉喜欢桉树。", "考拉每天睡二十个小时。"}},
		{"words", "one two three four five six seven eight nine", 40, []string{"one two three four five six seven eight ", "nine"}},
		{"runes", strings.Repeat("记", 20), 40, []string{strings.Repeat("记", 13), strings.Repeat("记", 7)}},
		{"fence that fits", "one two three four\n\n```\na\n\nb\nc\ndd\n\ne\n```\nf", 40, []string{"one two three four\n\n", "```\na\n\nb\nc\ndd\n\ne\n```\nf"}},
		{"fence that does not", "```\naaaaaaaaaaaaaaaaaa\nbbbbbbbbbbbbbbbbbb\ncccccccccccc\n```\n", 40, []string{"```\naaaaaaaaaaaaaaaaaa\n", "bbbbbbbbbbbbbbbbbb\ncccccccccccc\n```\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range memfile.Chunks(tt.text, tt.max) {
				got = append(got, tt.text[c[0]:c[1]])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// checkChunks checks what holds for all chunks of valid text.
func checkChunks(t interface {
	Fatalf(format string, args ...any)
}, text string, limit int) {
	at := 0
	chunks := memfile.Chunks(text, limit)
	for i, c := range chunks {
		if c[0] != at || c[1] <= c[0] {
			t.Fatalf("chunk %d is %v after %d", i, c, at)
		}
		if !utf8.ValidString(text[c[0]:c[1]]) && utf8.ValidString(text) {
			t.Fatalf("chunk %d cuts a rune", i)
		}
		if len(text) < 1<<20 && c[1]-c[0] > max(limit, 32) {
			t.Fatalf("chunk %d has %d bytes of %d", i, c[1]-c[0], limit)
		}
		at = c[1]
	}
	if at != len(text) || len(chunks) > memfile.MaxChunks {
		t.Fatalf("%d chunks end at %d of %d", len(chunks), at, len(text))
	}
}

func TestChunksCoverText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkChunks(t, strings.Repeat(noteGen().Draw(t, "note"), 3), rapid.IntRange(1, 300).Draw(t, "max"))
	})
}

func TestChunksBounded(t *testing.T) {
	for name, text := range map[string]string{
		"one line":     strings.Repeat("lorem ipsum ", 420000),
		"no space":     strings.Repeat("记", 1<<20),
		"newlines":     strings.Repeat("\n", 5<<20),
		"fences":       strings.Repeat("```\n", 1<<20),
		"open fence":   "```\n" + strings.Repeat("a b c\n\n", 1<<19),
		"stray bytes":  strings.Repeat("\x80", 1<<20),
		"small chunks": strings.Repeat("word\n\n", 1<<19),
	} {
		t.Run(name, func(t *testing.T) {
			checkChunks(t, text, 32)
			checkChunks(t, text, 0)
		})
	}
}

func TestIndexable(t *testing.T) {
	blob := strings.Repeat("iVBORw0KGgo", 40)
	pem := strings.TrimSuffix(strings.Repeat(strings.Repeat("Ab3/", 19)+"\n", 6), "\n")
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "koala\n", "koala\n"},
		{"image", "![x](data:image/png;base64," + blob + "==) koala", "![x](data:image/png;base64, ) koala"},
		{"short base64 stays", "key " + blob[:100] + " koala", "key " + blob[:100] + " koala"},
		{"wrapped", "-----BEGIN-----\n" + pem + "\nAb3/Zz==\n-----END-----\nkoala", "-----BEGIN-----\n \n-----END-----\nkoala"},
		{"text behind a wrapped blob", pem + "\nkoala eats\n", " \nkoala eats\n"},
		{"two blobs", blob + " koala " + blob, "  koala  "},
		{"zero width", "pass\u200bword re\u00adset \ufeffno\u2060break", "password reset nobreak"},
		{"bidi", "\u202eevil\u202c \u2066x\u2069 \u200fy", "evil x y"},
		{"joined emoji", "👨\u200d👩\u200d👧 koala\u200d", "👨\u200d👩\u200d👧 koala"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"only invisible", "\u200b", ""},
		{"no-break space stays", "a\u00a0b", "a\u00a0b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, memfile.Indexable(tt.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
