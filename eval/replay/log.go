package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

// A log is the folder that a replay writes its records to. One process at a time
// has it.
type log struct {
	path    string
	dir     *atomicfile.Dir
	lock    *flock.Flock
	header  *Header
	old     []*Record          // that were there, in their order
	records map[string]*Record // by key; the last one counts
}

func openLog(dir string) (_ *log, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l := &log{path: dir, lock: flock.New(filepath.Join(dir, RunsFile+".lock")), records: map[string]*Record{}}
	switch ok, err := l.lock.TryLock(); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("another replay writes to %s", dir)
	}
	if l.dir, err = atomicfile.OpenDir(dir, nil); err != nil {
		return nil, errors.Join(err, l.lock.Unlock())
	}
	return l, nil
}

// read reads what is there. The header is nil when there is nothing.
func (l *log) read() (*Header, error) {
	raw, err := l.dir.ReadFile(RunsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h, list, err := ParseRecords(raw)
	if err != nil {
		return nil, err
	}
	for i := range list {
		l.old = append(l.old, &list[i])
		l.records[list[i].Key] = &list[i]
	}
	return h, nil
}

// begin writes the header and what was read, without a line that was cut off.
func (l *log) begin(h *Header) error {
	l.header = h
	return l.write(l.old)
}

func (l *log) write(list []*Record) error {
	values := []any{l.header}
	for _, r := range list {
		values = append(values, r)
	}
	raw, err := jsonLines(values...)
	if err != nil {
		return err
	}
	return l.dir.Write(RunsFile, raw, 0o644)
}

// add appends a record.
func (l *log) add(r *Record) error {
	raw, err := jsonLines(r)
	if err != nil {
		return err
	}
	if err := l.dir.Append(RunsFile, raw); err != nil {
		return err
	}
	l.records[r.Key] = r
	return nil
}

func jsonLines(values ...any) ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	for _, v := range values {
		if err := out.Encode(v); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// close puts the records in the order of the plan and lets go of the folder.
func (l *log) close(plan []planned) error {
	var errs []error
	if l.header != nil {
		var list []*Record
		for i := range plan {
			if r := l.records[plan[i].key]; r != nil {
				list = append(list, r)
			}
		}
		errs = append(errs, l.write(list))
	}
	return errors.Join(append(errs, l.dir.Close(), l.lock.Unlock())...)
}

// ReadRecords reads the records in the folder dir, in the order of the replay
// once it is over. A last line that was cut off is left out, and of several
// records of one run all but the last.
func ReadRecords(dir string) (*Header, []Record, error) {
	name := filepath.Join(dir, RunsFile)
	raw, err := atomicfile.ReadRegular(name)
	if err != nil {
		return nil, nil, fmt.Errorf("read records: %w", err)
	}
	h, list, err := ParseRecords(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", name, err)
	}
	return h, list, nil
}

// ParseRecords is [ReadRecords] of the content of the file.
func ParseRecords(raw []byte) (*Header, []Record, error) {
	lines := bytes.Split(raw, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) > 0 && !json.Valid(lines[last]) {
		lines = lines[:last] // of a writer that was killed
	}
	var h *Header
	var list []Record
	at := map[string]int{}
	for i, line := range lines {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if h == nil {
			h = &Header{}
			if err := json.Unmarshal(line, h); err != nil {
				return nil, nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			if h.V != RecordVersion {
				return nil, nil, fmt.Errorf("line %d: version %d of the records, only %d is known", i+1, h.V, RecordVersion)
			}
			continue
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, nil, fmt.Errorf("line %d is damaged: %w; without it the run is made again", i+1, err)
		}
		if r.V != RecordVersion || r.Task == "" || r.Arm == "" || r.Rep < 0 {
			return nil, nil, fmt.Errorf("line %d: no record of a run", i+1)
		}
		if j, ok := at[r.Key]; ok {
			list[j] = r
			continue
		}
		at[r.Key] = len(list)
		list = append(list, r)
	}
	if h == nil {
		return nil, nil, errors.New("there is no header: it holds no replay, or has lost its beginning; use another folder")
	}
	return h, list, nil
}
