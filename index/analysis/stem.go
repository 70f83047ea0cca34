package analysis

import (
	"bytes"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/russian"

	"github.com/memsearch/memsearch/internal/porter"
)

// stem returns the stem of a folded word: Porter's for ASCII letters, Snowball's
// for Russian ones, and a cut ending for Greek and for other Cyrillic. The
// script alone decides, so French and German words get Porter's too.
func (t *tokenizer) stem(w []byte) []byte {
	if len(w) < 3 {
		return w
	}
	if w[0] < utf8.RuneSelf {
		for _, c := range w {
			if !isLetter(c) {
				return w
			}
		}
		return porter.Stem(w)
	}
	r, _ := utf8.DecodeRune(w)
	switch {
	case r >= 0x400 && r <= 0x52f:
		return cyrillic(w)
	case r >= 0x370 && r <= 0x3ff:
		return cut(w, greekEndings)
	case r == 'ا' && len(w) > 10 && bytes.HasPrefix(w, []byte("ال")): // the Arabic article
		return w[len("ال"):]
	}
	return w
}

func cyrillic(w []byte) []byte {
	for i := 0; i < len(w); {
		r, n := utf8.DecodeRune(w[i:])
		if r < 'а' || r > 'я' {
			return cut(w, cyrillicEndings)
		}
		i += n
	}
	env := snowballstem.NewEnv(string(w))
	russian.Stem(env)
	return append(w[:0], env.Current()...)
}

// Endings, longest first.
var (
	greekEndings    = []string{"ουσ", "ων", "εσ", "ασ", "ησ", "οσ", "οι", "ου", "ια", "α", "η", "ο", "ι", "ε", "υ", "ω"}
	cyrillicEndings = []string{"ами", "ями", "ого", "ому", "ові", "ів", "ах", "ях", "ам", "ям", "ом", "ем", "ий", "ій", "их", "а", "я", "о", "е", "є", "і", "ї", "и", "у", "ю", "ь", "й"}
)

// cut removes the first of endings that leaves three letters.
func cut(w []byte, endings []string) []byte {
	for _, e := range endings {
		if r, ok := bytes.CutSuffix(w, []byte(e)); ok && utf8.RuneCount(r) >= 3 {
			return r
		}
	}
	return w
}
