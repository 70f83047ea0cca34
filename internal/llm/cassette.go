package llm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/secrets"
)

// A CassetteMode says what a cassette does.
type CassetteMode string

// The modes of a cassette.
const (
	CassetteReplay CassetteMode = "replay" // answer from the file; what is not there is an error
	CassetteRecord CassetteMode = "record" // ask, and keep what was answered
	CassetteAuto   CassetteMode = "auto"   // answer from the file, ask for what is not there and keep it
)

// CassetteModes lists every mode.
var CassetteModes = []CassetteMode{CassetteReplay, CassetteRecord, CassetteAuto}

// cassetteVersion is the format of the lines, kept as "v" in each.
//
// History: 1 is the first.
const cassetteVersion = 1

// A Cassette is a file of completions by what was asked, one JSON object a line, so
// that a run with a model can be repeated without it. It holds prompts, and so the
// text of memories. It is safe for concurrent use; several processes may record
// into one. When a request was recorded twice, the later reply counts, so record
// mode replaces what was there. A line that was cut short, as a crash leaves it, is
// passed over; any other that is no record is an error.
type Cassette struct {
	path string
	mode CassetteMode
	scan func(text string) []secrets.Finding

	mu      sync.Mutex
	replies map[string]json.RawMessage
	torn    int
}

// A MissingError says that a cassette lacks the answer to a request.
type MissingError struct {
	File, Prompt, Model, Key string
	Torn                     int // lines of the file that were cut short
}

// Error implements error.
func (e *MissingError) Error() string {
	s := fmt.Sprintf("cassette %s has no reply of %s to this request (prompt %s, key %.12s…)", e.File, e.Model, e.Prompt, e.Key)
	if e.Torn > 0 {
		s += fmt.Sprintf("; torn lines passed over: %d", e.Torn)
	}
	return s + "; --cassette-mode record or auto asks the model and keeps its reply"
}

// OpenCassette opens the cassette at path. A file that is not there is an error in
// replay mode and made in the others.
func OpenCassette(path string, mode CassetteMode) (*Cassette, error) {
	c := &Cassette{path: path, mode: mode, scan: secrets.New().Scan, replies: map[string]json.RawMessage{}}
	switch mode {
	case CassetteReplay, CassetteRecord, CassetteAuto:
	default:
		return nil, fmt.Errorf("open cassette: mode %q is none of replay, record, auto", mode)
	}
	raw, err := atomicfile.ReadRegular(path)
	if mode == CassetteReplay && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open cassette: %w; --cassette-mode record makes one", err)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open cassette: %w", err)
	}
	n := 0
	for line := range bytes.Lines(withoutMark(raw)) {
		n++
		switch r, err := readRecord(line); {
		case errors.Is(err, errTorn):
			c.torn++
		case err != nil:
			return nil, fmt.Errorf("open cassette %s: line %d %w", path, n, err)
		case r != nil:
			c.replies[r.Key] = r.Reply
		}
	}
	if mode != CassetteReplay {
		f, err := c.writable()
		if err != nil {
			return nil, fmt.Errorf("open cassette: %w", err)
		}
		return c, f.Close()
	}
	return c, nil
}

// replays reports whether c never asks.
func (c *Cassette) replays() bool { return c != nil && c.mode == CassetteReplay }

func (c *Cassette) writable() (*os.File, error) {
	return os.OpenFile(c.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

// A record is one line.
type record struct {
	V       int             `json:"v"`
	Key     string          `json:"key"`
	Kind    string          `json:"kind"` // "chat" or "rank"
	Prompt  string          `json:"prompt,omitempty"`
	Request json.RawMessage `json:"request"`
	Reply   json.RawMessage `json:"reply"`
}

// What can be wrong with a line.
var (
	errNewer   = errors.New("was written by a newer version of memsearch")
	errTorn    = errors.New("is cut short")
	errDamaged = errors.New("is damaged")
)

// readRecord returns what a line holds, nil if it is blank.
func readRecord(line []byte) (*record, error) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil, nil
	}
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		if err := json.NewDecoder(bytes.NewReader(line)).Decode(&r); errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errTorn
		}
		return nil, errDamaged
	}
	switch {
	case r.V > cassetteVersion && r.Key != "":
		return nil, errNewer
	case r.V != cassetteVersion || r.Key == "" || len(r.Reply) == 0:
		return nil, errDamaged
	}
	return &r, nil
}

// withoutMark drops the byte order mark that some editors put before a text.
func withoutMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\ufeff")) }

// A question is what the key of a reply is made of: all that the reply depends on,
// and neither address nor key of a server.
type question struct {
	kind, prompt, model string
	request             any // encodes to JSON with sorted keys
}

// do answers q into reply, by ask or from the file, and reports which. ask fills
// reply; what it returns with an error is not kept.
func (c *Cassette) do(ctx context.Context, q question, reply any, ask func(context.Context) error) (replayed bool, err error) {
	if c == nil {
		return false, ask(ctx)
	}
	request, err := json.Marshal(q.request)
	if err != nil {
		return false, fmt.Errorf("encode request: %w", err)
	}
	sum := sha256.Sum256(append([]byte(q.kind+"\n"), request...))
	key := hex.EncodeToString(sum[:])
	if c.mode != CassetteRecord {
		c.mu.Lock()
		raw, ok := c.replies[key]
		c.mu.Unlock()
		if ok {
			if err := json.Unmarshal(raw, reply); err != nil {
				return true, fmt.Errorf("reply in cassette %s, key %.12s…: not of this form", c.path, key)
			}
			return true, nil
		}
		if c.mode == CassetteReplay {
			return false, &MissingError{File: c.path, Prompt: q.prompt, Model: q.model, Key: key, Torn: c.torn}
		}
	}
	if found := c.secretIn(request); len(found) > 0 {
		return false, fmt.Errorf("record request: it holds what looks like a secret (%s); nothing was asked", found[0].Rule)
	}
	if err := ask(ctx); err != nil {
		return false, err
	}
	return false, c.keep(record{V: cassetteVersion, Key: key, Kind: q.kind, Prompt: q.prompt, Request: request}, reply)
}

// unquoted undoes the quoting of JSON that a text has when it stands in JSON in a
// prompt.
var unquoted = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`,
	`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\n", `\u2029`, "\n")

// secretIn looks for secrets in the texts of a JSON value. In the value itself,
// quoting hides where a word begins.
func (c *Cassette) secretIn(raw json.RawMessage) []secrets.Finding {
	text := textOf(raw)
	if found := c.scan(text); len(found) > 0 {
		return found
	}
	return c.scan(unquoted.Replace(text))
}

// keep appends a reply.
func (c *Cassette) keep(r record, reply any) error {
	raw, err := json.Marshal(reply)
	if err != nil {
		return fmt.Errorf("encode reply: %w", err)
	}
	if found := c.secretIn(raw); len(found) > 0 {
		return fmt.Errorf("record reply: it holds what looks like a secret (%s)", found[0].Rule)
	}
	r.Reply = raw
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.writable()
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	// Each line begins with the end of the one before: a torn one then stays by
	// itself. Blank lines are passed over.
	_, err = f.Write(append(append([]byte{'\n'}, line...), '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	c.replies[r.Key] = raw
	return nil
}

// PurgeCassette takes the records whose request or reply holds a text out of the
// cassette at path, and the lines that cannot be read, and returns how many there
// were. A file without a record is no cassette and left alone. What another process
// records meanwhile may be lost.
func PurgeCassette(path string, holds func(text string) bool) (removed int, err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return 0, fmt.Errorf("purge cassette: %w", err)
	}
	raw, err := atomicfile.ReadRegular(path)
	if err != nil {
		return 0, fmt.Errorf("purge cassette: %w", err)
	}
	var kept bytes.Buffer
	some := false
	for line := range bytes.Lines(withoutMark(raw)) {
		r, err := readRecord(line)
		switch {
		case errors.Is(err, errNewer):
			return 0, fmt.Errorf("purge cassette %s: a line %w", path, err)
		case err != nil:
			removed++
		case r == nil:
		case holdsText(r.Request, holds) || holdsText(r.Reply, holds):
			some = true
			removed++
		default:
			some = true
			kept.Write(bytes.TrimSpace(line))
			kept.WriteByte('\n')
		}
	}
	if !some || removed == 0 {
		return 0, nil
	}
	dir, err := atomicfile.OpenDir(filepath.Dir(path), nil)
	if err != nil {
		return 0, fmt.Errorf("purge cassette: %w", err)
	}
	defer dir.Close() // the file is synced
	if err := dir.Write(filepath.Base(path), kept.Bytes(), 0o600); err != nil {
		return 0, fmt.Errorf("purge cassette: %w", err)
	}
	return removed, nil
}

func holdsText(raw json.RawMessage, holds func(string) bool) bool {
	return holds(textOf(raw)) || holds(string(raw))
}

// textOf returns the strings of a JSON value, in its order, one after the other.
func textOf(raw json.RawMessage) string {
	var b strings.Builder
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		t, err := d.Token()
		if err != nil { // the end: raw is valid
			return b.String()
		}
		if s, ok := t.(string); ok {
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
}
