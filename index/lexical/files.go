package lexical

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/internal/atomicfile"
)

// formatVersion is the version of the folder's layout.
//
//	1  list.json, <name>.zap (zap 17), <name>.docs
const formatVersion = 1

const listName = "list.json"

// A list is what list.json holds: which segments make the index.
type list struct {
	Version  int       `json:"version"`
	Analysis int       `json:"analysis"`
	Next     int       `json:"next"` // number of the next segment
	Stats    Stats     `json:"stats"`
	Segments []segInfo `json:"segments"`
}

// A segInfo is one segment. Its files are immutable; what is deleted in it is
// said here.
type segInfo struct {
	Name    string `json:"name"`
	Docs    int    `json:"docs"`
	Dead    int    `json:"dead"`
	Deleted []byte `json:"deleted,omitempty"` // roaring bitmap of document numbers

	deleted *roaring.Bitmap
	table   *table // once it is needed
}

func (s *segInfo) live() int { return s.Docs - s.Dead }

func readList(dir string) (*list, error) {
	b, err := os.ReadFile(filepath.Join(dir, listName))
	if err != nil {
		return nil, fmt.Errorf("read keyword index: %w", err)
	}
	l := new(list)
	if err := json.Unmarshal(b, l); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorrupt, listName, err)
	}
	if l.Version != formatVersion || l.Analysis != analysis.Version {
		return nil, fmt.Errorf("%w: format %d.%d is not %d.%d", ErrVersion, l.Version, l.Analysis, formatVersion, analysis.Version)
	}
	for i := range l.Segments {
		s := &l.Segments[i]
		if len(s.Deleted) > 0 {
			s.deleted = roaring.New()
			if err := s.deleted.UnmarshalBinary(s.Deleted); err != nil {
				return nil, fmt.Errorf("%w: document numbers: %w", ErrCorrupt, err)
			}
		}
		if filepath.Base(s.Name) != s.Name || s.Docs < 0 || s.Dead < 0 || s.Dead > s.Docs {
			return nil, fmt.Errorf("%w: segment %q", ErrCorrupt, s.Name)
		}
	}
	return l, nil
}

func (l *list) write(dir string) error {
	l.Version, l.Analysis = formatVersion, analysis.Version
	for i := range l.Segments {
		s := &l.Segments[i]
		s.Deleted = nil
		if s.deleted == nil || s.deleted.IsEmpty() {
			continue
		}
		s.deleted.RunOptimize()
		raw, err := s.deleted.ToBytes()
		if err != nil {
			return fmt.Errorf("write document numbers: %w", err)
		}
		s.Deleted = raw
	}
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write keyword index: %w", err)
	}
	return writeFile(filepath.Join(dir, listName), append(b, '\n'))
}

func zapPath(dir, name string) string { return filepath.Join(dir, name+".zap") }

func docsPath(dir, name string) string { return filepath.Join(dir, name+".docs") }

// A table says of each document of a segment which chunk it is and how long its
// fields are.
type table struct {
	keys []key.Key
	lens [][analysis.NumFields]uint32
}

const (
	tableMagic = "msdocs1\n"
	tableRow   = key.Size + 4*analysis.NumFields
)

func (t *table) write(path string) error {
	b := make([]byte, 0, len(tableMagic)+len(t.keys)*tableRow)
	b = append(b, tableMagic...)
	for i, k := range t.keys {
		b = k.Append(b)
		for _, l := range t.lens[i] {
			b = binary.BigEndian.AppendUint32(b, l)
		}
	}
	return writeFile(path, b)
}

func (s *segInfo) load(dir string) (*table, error) {
	if s.table != nil {
		return s.table, nil
	}
	b, err := os.ReadFile(docsPath(dir, s.Name))
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	if len(b) != len(tableMagic)+s.Docs*tableRow || string(b[:len(tableMagic)]) != tableMagic {
		return nil, fmt.Errorf("%w: documents of segment %s", ErrCorrupt, s.Name)
	}
	t := &table{keys: make([]key.Key, s.Docs), lens: make([][analysis.NumFields]uint32, s.Docs)}
	b = b[len(tableMagic):]
	for i := range t.keys {
		t.keys[i], _ = key.Parse(b[:key.Size])
		for f := range t.lens[i] {
			t.lens[i][f] = binary.BigEndian.Uint32(b[key.Size+4*f:])
		}
		b = b[tableRow:]
	}
	s.table = t
	return t, nil
}

// writeFile writes a new file and syncs it.
func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write keyword index: %w", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("write keyword index: %w", err)
	}
	return nil
}

// share makes the file from also appear as to: by a hard link, else by a copy.
func share(from, to string) error {
	if err := os.Link(from, to); err == nil || os.IsExist(err) || os.IsNotExist(err) {
		return err
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, b)
}

func syncDir(dir string) error {
	d, err := atomicfile.OpenDir(dir, nil)
	if err != nil {
		return err
	}
	return errors.Join(d.SyncDir("."), d.Close())
}
