package vault

import (
	"fmt"
	"io"
	"time"
)

// idAlphabet is base 32 without the letters that are taken for digits.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns an id for a memory made at now: mem_<YYYYMMDDHHMMSS>_<6 base 32>,
// the time in UTC.
func NewID(now time.Time, rand io.Reader) (string, error) {
	var b [6]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return "", fmt.Errorf("make memory id: %w", err)
	}
	for i := range b {
		b[i] = idAlphabet[b[i]%32]
	}
	return "mem_" + now.UTC().Format("20060102150405") + "_" + string(b[:]), nil
}
