package llm

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

// What is kept of debug files at most; beyond it the oldest go.
const (
	DebugFiles = 500
	DebugBytes = 64 << 20
)

var artifactName = regexp.MustCompile(`^\d{8}T\d{6}-[a-z0-9]+\.json$`)

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
	Request any       `json:"request"`
	Reply   any       `json:"reply"` // of a stream: the pieces put together
	Error   string    `json:"error,omitempty"`
}

// debug keeps what a call sent and got. Strings are redacted as they were meant, not
// as JSON has them, where an escape hides the start of a word.
func (c *Client) debug(e Entry, sent, got []byte, err error) {
	if c.opts.DebugDir == "" {
		return
	}
	a := artifact{V: 1, ID: e.ID, Time: e.Time, Profile: e.Profile, Model: e.Model, Prompt: e.Prompt, URL: c.url,
		Request: c.redact(decoded(sent)), Reply: c.redact(decoded(got))}
	if err != nil {
		a.Error = c.redactText(err.Error())
	}
	if werr := c.keep(a); werr != nil {
		c.opts.Logger.Warn("debug file not written", "err", werr)
	}
}

// decoded returns what a body holds: a value of JSON, that of a stream, or else its
// text.
func decoded(body []byte) (v any) {
	if json.Unmarshal(body, &v) == nil {
		return v
	}
	if hasEvents(body) {
		if res, _ := parseEvents(body); res != nil {
			if b, err := json.Marshal(res); err == nil && json.Unmarshal(b, &v) == nil {
				return v
			}
		}
	}
	return string(body)
}

// redact cleans all strings in a value of JSON.
func (c *Client) redact(v any) any {
	switch v := v.(type) {
	case string:
		return c.redactText(v)
	case []any:
		for i := range v {
			v[i] = c.redact(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = c.redact(v[k])
		}
	}
	return v
}

// redactText cleans a text. The key is sent as a header, but a reply may quote it. Of
// JSON in a prompt, where quoting may hide the start of a secret, the quoting goes with
// the secret.
func (c *Client) redactText(s string) string {
	if key := c.key(); key != "" {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	s = c.opts.Redact(s)
	plain := unquoted.Replace(s)
	if clean := c.opts.Redact(plain); clean != plain {
		return clean
	}
	return s
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
	if err := dir.Write(fmt.Sprintf("%s-%s.json", a.Time.Format("20060102T150405"), a.ID), append(b, '\n'), 0o600); err != nil {
		return err
	}
	return dir.Prune(artifactName.MatchString, DebugFiles, DebugBytes)
}
