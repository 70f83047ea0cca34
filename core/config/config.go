// Package config reads the settings of memsearch and remembers where each came
// from.
//
//	defaults < user file < vault file < environment < flags
//
// A file is memsearch.yaml in the vault or in the user's configuration folder.
// An unknown key is an error with a hint, never silently ignored. Keys to
// services are given only by the name of an environment variable.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/llm"
)

// FileName is the name of a settings file.
const FileName = "memsearch.yaml"

// maxFile bounds a settings file, in bytes.
const maxFile = 1 << 20

// A Config holds the effective settings. Durations in files are Go durations
// ("30s") and numbers are plain.
type Config struct {
	Mode     string // off, policy-only, catalog or recall
	Zone     *time.Location
	IndexDir string
	K        int
	Budget   int // tokens of the context

	InjectThreshold float64       // confidence below which nothing is injected
	SyncBudget      time.Duration // how long a recall may spend on looking for changed files
	SyncFiles       int           // most changed files a recall indexes itself
	LockWait        time.Duration // how long a writer waits for another

	Model         string // static, none, or the name of an API model
	BaseURL       string
	APIKeyEnv     string
	Dims          int
	RequestDims   bool
	QueryPrefix   string
	PassagePrefix string
	Batch         int
	Timeout       time.Duration
	MaxCalls      int
	MaxTokens     int
	Price         float64 // of a million tokens

	RecallProfile string // model profile of reranking
	Rerank        Rerank
	Caps          llm.Caps
	LedgerDir     string
	Debug         bool
	Cassette      string
	CassetteMode  llm.CassetteMode

	profiles map[string]llm.Profile // as given; see [Config.Profile]
	entries  []Entry
}

// An Entry is one setting with its origin.
type Entry struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"` // [SourceDefault], "file:line", "env NAME" or "flag"
	Help   string `json:"help"`
}

// SourceDefault is the source of a setting that nobody gave.
const SourceDefault = "default"

// Entries returns every setting in documented order.
func (c *Config) Entries() []Entry { return slices.Clone(c.entries) }

// An UnknownKeyError names a key that no setting has.
type UnknownKeyError struct {
	Key, Where, Hint string
}

func (e *UnknownKeyError) Error() string {
	s := fmt.Sprintf("unknown setting %q in %s", e.Key, e.Where)
	if e.Hint != "" {
		s += fmt.Sprintf(" (did you mean %q?)", e.Hint)
	}
	return s
}

// Options says where to look.
type Options struct {
	VaultDir string // folder whose memsearch.yaml is read; may be empty
	UserDir  string // folder of the user's memsearch.yaml; may be empty
	Getenv   func(string) string
	Flags    map[string]string // setting -> value given on the command line
}

// Load merges all sources. A missing file is no error. Problems in several
// places are reported together.
func Load(o Options) (*Config, error) {
	c := &Config{Zone: time.UTC, profiles: map[string]llm.Profile{}}
	for _, s := range settings {
		if err := s.set(c, s.def); err != nil {
			return nil, fmt.Errorf("default of %s: %w", s.key, err)
		}
		c.entries = append(c.entries, Entry{Key: s.key, Value: s.show(s.def), Source: SourceDefault, Help: s.help})
	}
	var errs []error
	for _, dir := range []string{o.UserDir, o.VaultDir} {
		if dir != "" {
			errs = append(errs, c.file(filepath.Join(dir, FileName)))
		}
	}
	if o.Getenv != nil {
		for _, s := range settings {
			name := s.env()
			if v := o.Getenv(name); v != "" {
				errs = append(errs, c.apply(s.key, v, "env "+name))
			}
		}
	}
	for _, s := range settings {
		if v, ok := o.Flags[s.key]; ok {
			errs = append(errs, c.apply(s.key, v, "flag"))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	c.keepKey()
	if mode := &c.entries[find("mode")]; mode.Value != c.Mode { // memory.enabled: false
		mode.Value, mode.Source = c.Mode, c.entries[find("memory.enabled")].Source
	}
	return c, nil
}

// keepKey sees to it that the key of one server is not sent to another: one that is
// named without a key gets none, unless it is the usual one.
func (c *Config) keepKey() {
	url, key := find("base_url"), find("api_key_env")
	if strings.TrimRight(c.BaseURL, "/") != llm.DefaultBaseURL && c.entries[url].Source != SourceDefault && c.entries[key].Source == SourceDefault {
		c.APIKeyEnv, c.entries[key].Value = "", ""
	}
}

// file merges one settings file.
func (c *Config) file(name string) error {
	f, err := atomicfile.OpenRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	defer f.Close() // read only
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	if len(b) > maxFile {
		return fmt.Errorf("read settings: %s has more than %d bytes", name, maxFile)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return fmt.Errorf("read settings %s: %w", name, err)
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return c.mapping(doc.Content[0], "", name)
}

// mapping applies every key below n; nested maps make dotted keys.
func (c *Config) mapping(n *yaml.Node, prefix, name string) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("read settings %s:%d: want \"key: value\" lines", name, n.Line)
	}
	var errs []error
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		key, where := prefix+k.Value, fmt.Sprintf("%s:%d", name, k.Line)
		switch {
		case v.Kind == yaml.MappingNode && (isGroup(key) || !isSetting(key) && len(v.Content) > 0): // of a name misspelt, the keys below have a hint
			errs = append(errs, c.mapping(v, key+".", name))
		case v.Kind != yaml.ScalarNode:
			errs = append(errs, fmt.Errorf("setting %s in %s: want a single value", key, where))
		case v.Tag == "!!null":
		default:
			errs = append(errs, c.apply(key, v.Value, where))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) apply(key, value, where string) error {
	i := find(key)
	if i < 0 {
		return &UnknownKeyError{Key: key, Where: where, Hint: nearest(key)}
	}
	if err := settings[i].set(c, value); err != nil {
		return fmt.Errorf("setting %s in %s: %w", key, where, err)
	}
	c.entries[i].Value, c.entries[i].Source = settings[i].show(value), where
	return nil
}

func isSetting(key string) bool { return find(key) >= 0 }

// find returns the place of a setting, -1 when there is none.
func find(key string) int {
	return slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
}

func isGroup(key string) bool {
	return slices.ContainsFunc(settings, func(s setting) bool { return strings.HasPrefix(s.key, key+".") })
}

// nearest returns the known key within a third of key's length in edits, or "".
// Of several as near it is one of the same length, if there is one.
func nearest(key string) string {
	best, at := len(key)/3+1, ""
	for _, s := range settings {
		d := distance(key, s.key)
		if d < best || d == best && at != "" && len(at) != len(key) && len(s.key) == len(key) {
			best, at = d, s.key
		}
	}
	return at
}

// distance is the optimal string alignment distance in bytes: two neighbours that
// changed places are one edit.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j-1]+cost, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

func atLeast(n int) func(string) (int, error) {
	return func(s string) (int, error) {
		v, err := strconv.Atoi(s)
		if err != nil {
			return 0, fmt.Errorf("%q is not a whole number", s)
		}
		if v < n {
			return 0, fmt.Errorf("%d is less than %d", v, n)
		}
		return v, nil
	}
}
