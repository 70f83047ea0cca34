package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockRetry is how often a lock that another process holds is tried again.
const lockRetry = 5 * time.Millisecond

// Lock waits until no other process, and no other Journal of this one, holds the
// lock of a stream, for what must be read and appended in one step. Append does
// not take it. The returned function releases it, as does the end of the process.
func (j *Journal) Lock(ctx context.Context, stream string) (unlock func() error, err error) {
	if _, err := j.file(stream); err != nil {
		return nil, err
	}
	if err := j.dir.MkdirAll(j.name, 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w", stream, err)
	}
	l := flock.New(filepath.Join(j.dir.Root().Name(), filepath.FromSlash(j.name), stream+".lock"))
	if _, err := l.TryLockContext(ctx, lockRetry); err != nil {
		return nil, fmt.Errorf("lock %s: %w", stream, err)
	}
	return l.Unlock, nil
}

// tailBlock is how much of a stream is read at a time from its end.
const tailBlock = 64 << 10

// Last calls fn with the records of a stream, newest first, until fn returns
// false. It reads no more of the file than that takes.
func (j *Journal) Last(stream string, fn func(json.RawMessage) (more bool, err error)) error {
	f, err := j.open(stream)
	if f == nil {
		return err
	}
	defer f.Close() // read only
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read %s: %w", stream, err)
	}
	var rest []byte // the start of a line whose beginning is further up
	more := true
	each := func(line []byte) error {
		return record(line, func(r json.RawMessage) (err error) {
			more, err = fn(r)
			return err
		})
	}
	for at > 0 && more {
		n := min(at, tailBlock)
		at -= n
		block := make([]byte, n, int(n)+len(rest))
		if _, err := f.ReadAt(block, at); err != nil {
			return fmt.Errorf("read %s: %w", stream, err)
		}
		block = append(block, rest...)
		for more {
			i := bytes.LastIndexByte(block, '\n')
			if i < 0 {
				break
			}
			if err := each(block[i+1:]); err != nil {
				return fmt.Errorf("read %s: %w", stream, err)
			}
			block = block[:i]
		}
		rest = block
	}
	if more {
		if err := each(rest); err != nil {
			return fmt.Errorf("read %s: %w", stream, err)
		}
	}
	return nil
}
