// Package journal keeps what is neither a memory nor derivable from one:
// tombstones, usage, the cost ledger, life-cycle events.
//
//	record -> Append -> .memsearch-journal/<stream>.jsonl -> Read
//
// A stream is a file of JSON objects, one a line, that only ever grows, so that
// cat and grep read it. A crash can tear the last line; the next append starts a
// line of its own, and torn lines are passed over. No record holds the text of a
// memory.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

// Version is the format of the lines, kept as "v" in each.
//
// History: 1 is the first.
const Version = 1

// The streams.
const (
	Tombstones = "tombstones"
	Usage      = "usage"
	Ledger     = "ledger"
	Lifecycle  = "lifecycle"
)

// ErrVersion is returned for a record of a newer format.
var ErrVersion = errors.New("journal is of a newer version")

// A Journal is safe for concurrent use, also by several processes.
type Journal struct {
	dir  *atomicfile.Dir
	name string
}

// New returns the journal in the folder called name below dir. Nothing is made
// before the first append.
func New(dir *atomicfile.Dir, name string) *Journal { return &Journal{dir: dir, name: name} }

func (j *Journal) file(stream string) (string, error) {
	switch stream {
	case Tombstones, Usage, Ledger, Lifecycle:
		return j.name + "/" + stream + ".jsonl", nil
	}
	return "", fmt.Errorf("journal stream %q: %w", stream, fs.ErrInvalid)
}

// Append adds record, which must encode as a JSON object, to a stream. When it
// returns nil, the record survives a power failure.
func (j *Journal) Append(stream string, record any) error {
	name, err := j.file(stream)
	if err != nil {
		return err
	}
	b, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode %s record: %w", stream, err)
	}
	body, ok := bytes.CutPrefix(b, []byte("{"))
	if !ok {
		return fmt.Errorf("encode %s record: not an object: %w", stream, fs.ErrInvalid)
	}
	line := fmt.Appendf(nil, `{"v":%d`, Version)
	if !bytes.HasPrefix(body, []byte("}")) {
		line = append(line, ',')
	}
	line = append(append(line, body...), '\n')
	if err := j.dir.MkdirAll(j.name, 0o700); err != nil {
		return fmt.Errorf("append to %s: %w", stream, err)
	}
	torn, err := j.torn(name)
	if err != nil {
		return fmt.Errorf("append to %s: %w", stream, err)
	}
	if torn {
		line = append([]byte{'\n'}, line...)
	}
	if err := j.dir.Append(name, line); err != nil {
		return fmt.Errorf("append to %s: %w", stream, err)
	}
	return nil
}

// torn reports whether the file ends within a line.
func (j *Journal) torn(name string) (bool, error) {
	f, err := j.dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() // read only
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return false, err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// open opens a stream for reading; nil when it has no file.
func (j *Journal) open(stream string) (*os.File, error) {
	name, err := j.file(stream)
	if err != nil {
		return nil, err
	}
	f, err := j.dir.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", stream, err)
	}
	return f, nil
}

// Read calls fn with each record of a stream, oldest first, until fn fails. A
// stream without a file is empty.
func (j *Journal) Read(stream string, fn func(json.RawMessage) error) error {
	f, err := j.open(stream)
	if f == nil {
		return err
	}
	defer f.Close() // read only
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("read %s: %w", stream, err)
		}
		if ferr := record(line, fn); ferr != nil {
			return fmt.Errorf("read %s: %w", stream, ferr)
		}
		if err == io.EOF {
			return nil
		}
	}
}

// record hands a line to fn unless it is torn.
func record(line []byte, fn func(json.RawMessage) error) error {
	line = bytes.TrimSpace(line)
	var head struct {
		V int `json:"v"`
	}
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &head) != nil {
		return nil
	}
	if head.V > Version {
		return fmt.Errorf("%w: %d", ErrVersion, head.V)
	}
	return fn(line)
}
