package journal

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// keyFile holds the key of the vault's tombstones, readable by its owner alone.
const keyFile = "key"

// A Tombstone remembers that something was forgotten without remembering it.
type Tombstone struct {
	Time         time.Time `json:"time"`
	HMAC         []string  `json:"hmac"` // of the normalised text as a whole and of its parts
	MemoryID     string    `json:"memory_id"`
	SourceEvents []string  `json:"source_events,omitempty"`
}

// minPart is how many bytes a part of a text must have to be remembered, or
// recognised, for itself. Shorter lines stand in many texts.
const minPart = 20

// maxParts bounds the parts of one text.
const maxParts = 20000

// Normal returns the form in which texts are compared: compatibility-composed,
// case-folded, one space for each stretch that is neither letter nor digit.
func Normal(text string) string {
	text = cases.Fold().String(norm.NFKC.String(text))
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r)
	}), " ")
}

// parts returns the normal forms of the text, of its paragraphs and of its
// lines, each once, the whole first.
func parts(text string) []string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var out []string
	seen := map[string]bool{"": true}
	add := func(s string, minimum int) {
		if n := Normal(s); len(n) >= minimum && !seen[n] && len(out) < maxParts {
			seen[n] = true
			out = append(out, n)
		}
	}
	add(text, 1)
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		add(paragraph, minPart)
	}
	for line := range strings.SplitSeq(text, "\n") {
		add(line, minPart)
	}
	return out
}

// Bury records that the texts of a memory, and what was made from the same
// events, must not come back.
func (j *Journal) Bury(now time.Time, memoryID string, texts, events []string) error {
	key, err := j.key(true)
	if err != nil {
		return err
	}
	t := Tombstone{Time: now.UTC(), MemoryID: memoryID, SourceEvents: events, HMAC: []string{}}
	for _, text := range texts {
		for _, p := range parts(text) {
			t.HMAC = append(t.HMAC, sum(key, p))
		}
	}
	slices.Sort(t.HMAC)
	t.HMAC = slices.Compact(t.HMAC)
	return j.Append(Tombstones, t)
}

// Buried records that what was last buried is gone from the files, too.
func (j *Journal) Buried(now time.Time, memoryID string) error {
	return j.Append(Tombstones, Tombstone{Time: now.UTC(), MemoryID: memoryID, HMAC: []string{}})
}

// Burials returns a number that grows with every record of something forgotten.
func (j *Journal) Burials() int64 {
	name, err := j.file(Tombstones)
	if err != nil {
		return 0
	}
	fi, err := j.dir.Lstat(name)
	if err != nil {
		return 0
	}
	return fi.Size()
}

// Entombed reports whether text, or a paragraph or line of it, was forgotten, or
// whether a forgotten memory was made from all the events.
func (j *Journal) Entombed(text string, events []string) (bool, error) {
	sums := map[string]bool{}
	key, err := j.key(false)
	switch {
	case errors.Is(err, fs.ErrNotExist): // without a key no text can be recognised
	case err != nil:
		return false, err
	default:
		for _, p := range parts(text) {
			sums[sum(key, p)] = true
		}
	}
	found := false
	err = j.Read(Tombstones, func(raw json.RawMessage) error {
		var t Tombstone
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("decode tombstone: %w", err)
		}
		found = found ||
			slices.ContainsFunc(t.HMAC, func(s string) bool { return sums[s] }) ||
			len(events) > 0 && !slices.ContainsFunc(events, func(e string) bool { return !slices.Contains(t.SourceEvents, e) })
		return nil
	})
	return found, err
}

func sum(key []byte, text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text)) // cannot fail
	return hex.EncodeToString(h.Sum(nil))
}

// key returns the vault's key, making it if need be.
func (j *Journal) key(create bool) ([]byte, error) {
	name := j.name + "/" + keyFile
	b, err := j.dir.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		key := make([]byte, 32)
		rand.Read(key) // cannot fail
		if err := j.dir.MkdirAll(j.name, 0o700); err != nil {
			return nil, fmt.Errorf("make journal key: %w", err)
		}
		err = j.dir.WriteNew(name, fmt.Appendf(nil, "%x\n", key), 0o600)
		if err == nil || errors.Is(err, fs.ErrExist) { // another process was faster
			b, err = j.dir.ReadFile(name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read journal key: %w", err)
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(b)))
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("read journal key: %s is damaged: %w", name, fs.ErrInvalid)
	}
	return key, nil
}
