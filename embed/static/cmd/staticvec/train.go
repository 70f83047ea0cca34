package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"github.com/memsearch/memsearch/embed/static"
)

const (
	maxWord      = 4 // longest dictionary word, in characters
	trainBuckets = 2048

	// Texts of a training pair are cut after this many tokens.
	maxLeft, maxRight = 80, 96

	// A document of the share estimate has this many words.
	shareWords = 20
)

// readTable reads the vocabulary, with its shares, and the character map.
func readTable(vocab, t2s string) (*static.Table, error) {
	t := &static.Table{MaxWord: maxWord, Fold: map[rune]rune{}}
	var counts []float64
	var total float64
	err := eachPair(vocab, func(token, count string) error {
		n, err := strconv.ParseFloat(count, 64)
		if err != nil {
			return err
		}
		t.Tokens = append(t.Tokens, token)
		counts = append(counts, n)
		total += n
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, n := range counts {
		t.Share = append(t.Share, 1-math.Pow(1-n/total, shareWords))
	}
	return t, eachPair(t2s, func(from, to string) error {
		f, _ := utf8.DecodeRuneInString(from)
		s, _ := utf8.DecodeRuneInString(to)
		t.Fold[f] = s
		return nil
	})
}

// A tokenizer gives training ids: it is a model without directions.
type tokenizer struct {
	model *static.Model
	train []int32 // training id by id
	buf   []int32
}

func newTokenizer(vocab, t2s string) (*tokenizer, error) {
	t, err := readTable(vocab, t2s)
	if err != nil {
		return nil, err
	}
	t.Dims, t.Buckets = 16, trainBuckets
	t.Rows = make([]float32, (len(t.Tokens)+t.Buckets)*t.Dims)
	data, err := t.Encode()
	if err != nil {
		return nil, err
	}
	m, err := static.Load(data)
	if err != nil {
		return nil, err
	}
	k := &tokenizer{model: m, train: make([]int32, m.Vocabulary())}
	for i, token := range t.Tokens {
		id, ok := m.Lookup(token)
		if !ok {
			return nil, fmt.Errorf("token %q cannot be looked up", token)
		}
		k.train[id] = int32(i)
	}
	for i := len(t.Tokens); i < len(k.train); i++ {
		k.train[i] = int32(i)
	}
	return k, nil
}

// ids returns at most limit training ids of text; they are valid until the next
// call. A limit of 0 means all.
func (k *tokenizer) ids(text string, limit int) []int32 {
	k.buf = k.model.AppendTokenIDs(k.buf[:0], text)
	if limit > 0 {
		k.buf = k.buf[:min(limit, len(k.buf))]
	}
	for i, id := range k.buf {
		k.buf[i] = k.train[id]
	}
	return k.buf
}

// encode writes the training ids of each line.
func encode(vocab, t2s string, in io.Reader, out io.Writer) error {
	k, err := newTokenizer(vocab, t2s)
	if err != nil {
		return err
	}
	var b []byte
	return eachLine(in, func(line string) error {
		ids := k.ids(line, 0)
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(len(ids)))
		_, err := out.Write(appendIDs(b, ids))
		return err
	})
}

// pairs writes the training ids of the two columns of each file: two counts,
// then the ids of both. It says on out how many pairs each file gave.
func pairs(vocab, t2s, ext, bin string, names []string, out io.Writer) error {
	k, err := newTokenizer(vocab, t2s)
	if err != nil {
		return err
	}
	for _, name := range names {
		n, err := k.pairFile(filepath.Join(ext, name+".tsv"), filepath.Join(bin, name+".bin"))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, name, n); err != nil {
			return err
		}
	}
	return nil
}

func (k *tokenizer) pairFile(from, to string) (n int, err error) {
	f, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	var b, right []byte
	err = eachPair(from, func(l, r string) error {
		ids := k.ids(l, maxLeft)
		left := len(ids)
		b = appendIDs(b[:0], ids)
		ids = k.ids(r, maxRight)
		if left == 0 || len(ids) == 0 {
			return nil
		}
		n++
		right = appendIDs(right[:0], ids)
		var head []byte
		head = binary.LittleEndian.AppendUint32(head, uint32(left))
		head = binary.LittleEndian.AppendUint32(head, uint32(len(ids)))
		for _, part := range [][]byte{head, b, right} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
	return n, errors.Join(err, w.Flush())
}

func appendIDs(b []byte, ids []int32) []byte {
	for _, id := range ids {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	return b
}
