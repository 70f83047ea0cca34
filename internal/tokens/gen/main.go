//go:build ignore

// Gen writes merges.bin, the first merges of o200k_base: for each token after
// the 256 bytes, in order of rank, the ranks of the two tokens it is made of, as
// little-endian uint16.
//
//	go run ./gen -n 30000
package main

import (
	"encoding/binary"
	"flag"
	"log"
	"os"

	"github.com/tiktoken-go/tokenizer"
)

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 30000, "tokens to write, the 256 bytes included")
	out := flag.String("o", "merges.bin", "file to write")
	flag.Parse()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		log.Fatal(err)
	}
	ranks := make(map[string]int, *n)
	var data []byte
	for rank := range *n {
		token, err := codec.Decode([]uint{uint(rank)})
		if err != nil {
			log.Fatalf("token %d: %v", rank, err)
		}
		ranks[token] = rank
		if len(token) == 1 {
			if rank >= 256 {
				log.Fatalf("byte %q has rank %d", token, rank)
			}
			data = append(data, token[0])
			continue
		}
		cut := 1
		for ; cut < len(token); cut++ {
			_, left := ranks[token[:cut]]
			_, right := ranks[token[cut:]]
			if left && right {
				break
			}
		}
		if cut == len(token) {
			log.Fatalf("token %d, %q, is no pair of earlier tokens", rank, token)
		}
		data = binary.LittleEndian.AppendUint16(data, uint16(ranks[token[:cut]]))
		data = binary.LittleEndian.AppendUint16(data, uint16(ranks[token[cut:]]))
	}
	if err := os.WriteFile(*out, data, 0o644); err != nil {
		log.Fatal(err)
	}
}
