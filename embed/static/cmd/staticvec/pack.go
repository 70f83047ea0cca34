package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/memsearch/memsearch/embed/static"
)

// pack writes a table file from trained float32 rows.
func pack(vocab, t2s, rows string, dims, buckets int, out io.Writer) error {
	t, err := readTable(vocab, t2s)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(rows)
	if err != nil {
		return err
	}
	t.Dims, t.Buckets = dims, buckets
	t.Rows = make([]float32, len(raw)/4)
	for i := range t.Rows {
		t.Rows[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	data, err := t.Encode()
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// A textRecord pins the tokens and the vector of a text.
type textRecord struct {
	Text   string    `json:"text"`
	Tokens []string  `json:"tokens"`
	IDs    []int32   `json:"ids"`
	Head   []float32 `json:"head"` // first elements of the vector
	Norm   float64   `json:"norm"`
}

// A pairRecord pins the cosine of the texts of two records, counted from 0.
type pairRecord struct {
	A   int     `json:"a"`
	B   int     `json:"b"`
	Cos float32 `json:"cos"`
}

const headLen = 8

// golden computes the records of in anew with the built-in table.
func golden(in io.Reader, out io.Writer) error {
	m, err := static.Shared()
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var vectors [][]float32
	return eachLine(in, func(line string) error {
		var r struct {
			Text *string
			A, B int
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return err
		}
		if r.Text == nil {
			if min(r.A, r.B) < 0 || max(r.A, r.B) >= len(vectors) {
				return fmt.Errorf("pair of texts %d and %d, of %d", r.A, r.B, len(vectors))
			}
			return enc.Encode(pairRecord{r.A, r.B, static.Dot(vectors[r.A], vectors[r.B])})
		}
		v := m.Vector(*r.Text)
		vectors = append(vectors, v)
		var n float64
		for _, x := range v {
			n += float64(x) * float64(x)
		}
		return enc.Encode(textRecord{*r.Text, m.Tokens(*r.Text), m.AppendTokenIDs([]int32{}, *r.Text), v[:headLen], math.Sqrt(n)})
	})
}
