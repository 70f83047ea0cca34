package chromem

import (
	"bufio"
	"compress/gzip"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxRead bounds what a file may unpack to, in bytes.
const maxRead = 2 << 30

// A Document is one entry of a collection.
type Document struct {
	ID        string
	Metadata  map[string]string
	Embedding []float32
	Content   string
}

// A Collection is a named list of documents, by id.
type Collection struct {
	Name      string
	Metadata  map[string]string
	Documents []Document
}

// stored is how the library writes a collection into an export. Its own API
// opens such a file but lists no documents.
type stored struct {
	Name      string
	Metadata  map[string]string
	Documents map[string]*Document
}

// metadataFile is the stem of the file that describes a collection in the folder
// of a persistent database.
const metadataFile = "00000000"

// Read returns the collections of an exported file or of the folder of a
// persistent database, by name.
func Read(name string) ([]Collection, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read chromem database: %w", err)
	}
	read := readFile
	if fi.IsDir() {
		read = readFolder
	}
	out, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("read chromem database %s: %w", name, err)
	}
	for _, c := range out {
		slices.SortFunc(c.Documents, func(a, b Document) int { return strings.Compare(a.ID, b.ID) })
	}
	slices.SortFunc(out, func(a, b Collection) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func readFile(name string) ([]Collection, error) {
	var db struct{ Collections map[string]*stored }
	if err := decode(name, &db); err != nil {
		return nil, err
	}
	var out []Collection
	for _, s := range db.Collections {
		if s == nil {
			continue
		}
		c := Collection{Name: s.Name, Metadata: s.Metadata}
		for id, d := range s.Documents {
			if d != nil {
				d.ID = id
				c.Documents = append(c.Documents, *d)
			}
		}
		out = append(out, c)
	}
	return out, nil
}

func readFolder(dir string) ([]Collection, error) {
	folders, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Collection
	for _, f := range folders {
		if !f.IsDir() {
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, f.Name(), "*.gob*"))
		if err != nil || len(files) == 0 {
			continue // a folder of something else
		}
		var c Collection
		for _, name := range files {
			if strings.HasPrefix(filepath.Base(name), metadataFile) {
				var s stored
				err = decode(name, &s)
				c.Name, c.Metadata = s.Name, s.Metadata
			} else {
				var d Document
				err = decode(name, &d)
				c.Documents = append(c.Documents, d)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		out = append(out, c)
	}
	if out == nil {
		return nil, errors.New("the folder holds no collection")
	}
	return out, nil
}

// decode reads one gob value, gzipped or not.
func decode(name string, v any) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() // read only
	var r io.Reader = bufio.NewReader(f)
	if magic, _ := r.(*bufio.Reader).Peek(2); string(magic) == "\x1f\x8b" {
		if r, err = gzip.NewReader(r); err != nil {
			return err
		}
	}
	if err := gob.NewDecoder(io.LimitReader(r, maxRead)).Decode(v); err != nil {
		return fmt.Errorf("not a chromem database, or an encrypted one: %w", err)
	}
	return nil
}
