//go:build ignore

// Gen writes what [tokens.Bound] knows of the vocabulary of o200k_base.
//
// merges.bin has the tokens of the lowest ranks, and of the next ones those of
// ASCII alone: the 256 bytes in order of rank, then for each token the places in
// this list of the two it is made of, as little-endian uint16.
//
// han.bin has what is known of Chinese characters, punctuation and full-width
// forms: a bitmap of those that are one token, then one a line the tokens of two
// and more of them, and after an empty line the tokens that begin or end inside
// one.
//
//	go run gen/main.go
package main

import (
	"encoding/binary"
	"log"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

const (
	all  = 5000  // tokens of any bytes; allRanks of merge.go
	most = 21500 // tokens in the list
	size = 199998
)

func main() {
	log.SetFlags(0)
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		log.Fatal(err)
	}
	tokens := make([]string, size)
	ranks := make(map[string]int, size)
	for rank := range size {
		if tokens[rank], err = codec.Decode([]uint{uint(rank)}); err != nil {
			log.Fatalf("token %d: %v", rank, err)
		}
		ranks[tokens[rank]] = rank
	}
	write("merges.bin", merges(tokens))
	write("han.bin", han(tokens, ranks))
}

func write(name string, data []byte) {
	if err := os.WriteFile(name, data, 0o644); err != nil {
		log.Fatal(err)
	}
}

func merges(tokens []string) []byte {
	var data []byte
	places := make(map[string]int, most)
	for rank, token := range tokens {
		if len(places) == most {
			log.Printf("ASCII tokens up to rank %d", rank)
			break
		}
		if rank >= all && !isASCII(token) {
			continue
		}
		if len(token) == 1 {
			if rank >= 256 {
				log.Fatalf("byte %q has rank %d", token, rank)
			}
			data = append(data, token[0])
			places[token] = len(places)
			continue
		}
		cut := 1
		for ; cut < len(token); cut++ {
			left, ok := places[token[:cut]]
			right, also := places[token[cut:]]
			if ok && also {
				data = binary.LittleEndian.AppendUint16(data, uint16(left))
				data = binary.LittleEndian.AppendUint16(data, uint16(right))
				break
			}
		}
		if cut == len(token) {
			log.Fatalf("token %d, %q, is no pair of earlier tokens", rank, token)
		}
		places[token] = len(places)
	}
	return data
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// index must be that of han.go.
func index(r rune) int {
	switch {
	case r >= 0x4e00 && r <= 0x9fff:
		return int(r - 0x4e00)
	case r >= 0x3001 && r <= 0x303f:
		return int(r-0x3000) + 0x5200
	case r >= 0xff01 && r <= 0xff3f:
		return int(r-0xff00) + 0x5240
	case r >= 0x2010 && r <= 0x2027:
		return int(r-0x2010) + 0x5280
	}
	return -1
}

const (
	indexes = 0x52a0
	longest = 16 // hanLongest of han.go
)

func han(tokens []string, ranks map[string]int) []byte {
	bitmap := make([]byte, indexes/8)
	single := make([]bool, indexes)
	var many, cut []string
	for _, token := range tokens {
		r, n := utf8.DecodeRuneInString(token)
		if n != len(token) || index(r) < 0 {
			continue
		}
		_, head := ranks[token[:2]]
		_, tail := ranks[token[1:]]
		if head || tail {
			i := index(r)
			single[i] = true
			bitmap[i/8] |= 1 << (i % 8)
		}
	}
	for _, token := range tokens {
		switch chars, all := shape(token); {
		case !utf8.ValidString(token):
			if relevant(token) {
				cut = append(cut, token)
			}
		case all && len(chars) > 1:
			// A character that is no token gets into one only by a cut token.
			if !slices.ContainsFunc(chars, func(r rune) bool { return !single[index(r)] }) {
				many = append(many, token)
			}
		}
	}
	for _, token := range many {
		if utf8.RuneCountInString(token) > longest {
			log.Fatalf("%q is longer than %d characters", token, longest)
		}
	}
	slices.Sort(many)
	slices.Sort(cut)
	return append(bitmap, strings.Join(many, "\n")+"\n\n"+strings.Join(cut, "\n")...)
}

func shape(token string) (chars []rune, all bool) {
	all = true
	for _, r := range token {
		chars = append(chars, r)
		all = all && index(r) >= 0
	}
	return chars, all
}

// begins reports whether s is the beginning of a character that has an index.
func begins(s string) bool {
	for _, r := range []rune{0x2010, 0x3001, 0xff01} {
		if strings.HasPrefix(string(r)[:2], s) {
			return true
		}
	}
	return s[0] >= 0xe4 && s[0] <= 0xe9
}

// relevant reports whether a token that is not valid UTF-8 can cross the border
// of two characters that have an index.
func relevant(token string) bool {
	body := token
	for body != "" && !utf8.RuneStart(body[0]) {
		body = body[1:]
	}
	if token[0] == ' ' {
		// Bound reckons with a space and a piece of the first character only.
		if r, n := utf8.DecodeRuneInString(token[1:]); !(r == utf8.RuneError && n == 1) && index(r) >= 0 {
			log.Fatalf("%q goes past the character after the space", token)
		}
		return false
	}
	if r, n := utf8.DecodeRuneInString(token[1:]); token[0] < utf8.RuneSelf && r == utf8.RuneError && n == 1 && begins(token[1:]) {
		log.Fatalf("%q begins with another character than a space", token)
	}
	crosses, whole := len(body) < len(token) && body != "", 0
	for body != "" {
		r, n := utf8.DecodeRuneInString(body)
		if r == utf8.RuneError && n == 1 {
			crosses = crosses || whole > 0
			if !begins(body) {
				return false
			}
			break
		}
		if index(r) < 0 {
			return false
		}
		body = body[n:]
		whole++
	}
	if crosses && whole == 0 {
		log.Fatalf("%q crosses a border and holds no character", token)
	}
	return crosses
}
