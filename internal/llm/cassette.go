package llm

import (
	"bufio"
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
// into one. When a request was recorded twice, the later reply counts.
type Cassette struct {
	path string
	mode CassetteMode
	scan func(text string) []secrets.Finding

	mu      sync.Mutex
	replies map[string]json.RawMessage
	damaged int
}

// A MissingError says that a cassette lacks the answer to a request.
type MissingError struct {
	File, Prompt, Model, Key string
	Damaged                  int // lines of the file that could not be read
}

// Error implements error.
func (e *MissingError) Error() string {
	s := fmt.Sprintf("cassette %s has no reply of %s to this request (prompt %s, key %.12s…)", e.File, e.Model, e.Prompt, e.Key)
	if e.Damaged > 0 {
		s += fmt.Sprintf("; damaged lines passed over: %d", e.Damaged)
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
	if err != nil && (mode == CassetteReplay || !errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("open cassette: %w", err)
	}
	err = eachRecord(raw, func(_ []byte, r *record) error {
		c.replies[r.Key] = r.Reply
		return nil
	}, func() { c.damaged++ })
	if err != nil {
		return nil, fmt.Errorf("open cassette %s: %w", path, err)
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

// errNewer is returned for a line of a newer format.
var errNewer = errors.New("it was written by a newer version of memsearch")

// eachRecord calls fn with each line and what it holds, and damaged for a line that
// is torn.
func eachRecord(raw []byte, fn func(line []byte, r *record) error, damaged func()) error {
	lines := bufio.NewReader(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff"))))
	for {
		line, err := lines.ReadBytes('\n')
		if text := bytes.TrimSpace(line); len(text) > 0 {
			var r record
			switch jerr := json.Unmarshal(text, &r); {
			case jerr == nil && r.V > cassetteVersion:
				return errNewer
			case jerr != nil || r.Key == "" || len(r.Reply) == 0:
				damaged()
			default:
				if err := fn(text, &r); err != nil {
					return err
				}
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

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
			return false, &MissingError{File: c.path, Prompt: q.prompt, Model: q.model, Key: key, Damaged: c.damaged}
		}
	}
	if found := c.scan(string(request)); len(found) > 0 {
		return false, fmt.Errorf("record request: it holds what looks like a secret (%s); nothing was asked", found[0].Rule)
	}
	if err := ask(ctx); err != nil {
		return false, err
	}
	return false, c.keep(record{V: cassetteVersion, Key: key, Kind: q.kind, Prompt: q.prompt, Request: request}, reply)
}

// keep appends a reply.
func (c *Cassette) keep(r record, reply any) error {
	raw, err := json.Marshal(reply)
	if err != nil {
		return fmt.Errorf("encode reply: %w", err)
	}
	if found := c.scan(string(raw)); len(found) > 0 {
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
// cassette at path, and those that cannot be read, and returns how many there
// were. A file that is no cassette is left alone.
func PurgeCassette(path string, holds func(text string) bool) (removed int, err error) {
	raw, err := atomicfile.ReadRegular(path)
	if err != nil {
		return 0, fmt.Errorf("purge cassette: %w", err)
	}
	var kept bytes.Buffer
	some := false
	err = eachRecord(raw, func(line []byte, r *record) error {
		some = true
		if holdsText(r.Request, holds) || holdsText(r.Reply, holds) {
			removed++
			return nil
		}
		kept.Write(line)
		kept.WriteByte('\n')
		return nil
	}, func() { removed++ })
	if err != nil {
		return 0, fmt.Errorf("purge cassette %s: %w", path, err)
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

// holdsText calls holds with the strings of a JSON value together.
func holdsText(raw json.RawMessage, holds func(string) bool) bool {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v)
			b.WriteByte('\n')
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return holds(string(raw))
	}
	walk(v)
	return holds(b.String()) || holds(string(raw))
}
