package llm

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

// An artifact is the file that a call leaves behind when it is asked to.
//
// History: 1 is the first.
type artifact struct {
	V       int       `json:"v"`
	ID      string    `json:"id"` // of the entry in the ledger
	Time    time.Time `json:"time"`
	Profile string    `json:"profile"`
	Model   string    `json:"model"`
	Prompt  string    `json:"prompt,omitempty"`
	URL     string    `json:"url"`
	Request string    `json:"request"`
	Reply   string    `json:"reply"`
	Error   string    `json:"error,omitempty"`
}

// debug keeps what a call sent and got, redacted. The key is in neither: it is
// sent as a header, and a reply that quotes it loses it.
func (c *Client) debug(e Entry, sent, got []byte, err error) {
	if c.opts.DebugDir == "" {
		return
	}
	clean := func(b []byte) string {
		s := string(b)
		if key := c.key(); key != "" {
			s = strings.ReplaceAll(s, key, "[key]")
		}
		return c.opts.Redact(s)
	}
	a := artifact{V: 1, ID: e.ID, Time: e.Time, Profile: e.Profile, Model: e.Model, Prompt: e.Prompt, URL: c.url, Request: clean(sent), Reply: clean(got)}
	if err != nil {
		a.Error = clean([]byte(err.Error()))
	}
	if werr := c.keep(a); werr != nil {
		c.opts.Logger.Warn("debug file not written", "err", werr)
	}
}

func (c *Client) keep(a artifact) error {
	b, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.opts.DebugDir, 0o700); err != nil {
		return err
	}
	dir, err := atomicfile.OpenDir(c.opts.DebugDir, nil)
	if err != nil {
		return err
	}
	defer dir.Close() // the file is synced
	return dir.Write(fmt.Sprintf("%s-%s.json", a.Time.Format("20060102T150405"), filepath.Base(a.ID)), append(b, '\n'), 0o600)
}
