// Command staticvec writes static token tables and what training one needs.
// train/README.md has the whole recipe.
//
//	staticvec pairs VOCAB.tsv T2S.tsv EXT BIN NAME... (EXT/NAME.tsv to BIN/NAME.bin)
//	staticvec enc VOCAB.tsv T2S.tsv < lines > ids.bin (int32 count, then ids, a line)
//	staticvec pack VOCAB.tsv T2S.tsv TABLE.f32 DIMS BUCKETS > static.bin
//	staticvec golden < testdata/golden.jsonl          (the same records, computed anew)
//
// Ids of pairs and enc are training ids: the line of the token in VOCAB.tsv, from
// 0, then the hash buckets. All numbers are little-endian.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "staticvec: error: %v\n", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: staticvec pairs|enc|pack|golden ..., see train/README.md")

func run(args []string, in io.Reader, stdout io.Writer) (err error) {
	if len(args) == 0 {
		return errUsage
	}
	out := bufio.NewWriterSize(stdout, 1<<20)
	defer func() { err = errors.Join(err, out.Flush()) }()
	cmd, args := args[0], args[1:]
	switch {
	case cmd == "pairs" && len(args) > 4:
		return pairs(args[0], args[1], args[2], args[3], args[4:], out)
	case cmd == "enc" && len(args) == 2:
		return encode(args[0], args[1], in, out)
	case cmd == "pack" && len(args) == 5:
		dims, err := strconv.Atoi(args[3])
		if err != nil {
			return fmt.Errorf("read dimensions: %w", err)
		}
		buckets, err := strconv.Atoi(args[4])
		if err != nil {
			return fmt.Errorf("read buckets: %w", err)
		}
		return pack(args[0], args[1], args[2], dims, buckets, out)
	case cmd == "golden" && len(args) == 0:
		return golden(in, out)
	}
	return errUsage
}

// maxLine is the longest line of a text file.
const maxLine = 1 << 28

// eachLine calls fn with the lines of r.
func eachLine(r io.Reader, fn func(line string) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 1<<20), maxLine)
	for sc.Scan() {
		if err := fn(sc.Text()); err != nil {
			return err
		}
	}
	return sc.Err()
}

// eachPair calls fn with the first two columns of a tab-separated file.
func eachPair(name string, fn func(a, b string) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := eachLine(f, func(line string) error {
		a, b, _ := strings.Cut(line, "\t")
		return fn(a, b)
	}); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}
