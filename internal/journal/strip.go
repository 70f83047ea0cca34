package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Strip takes members out of the records of a stream: those that drop names for
// a record. It is for what must not outlive a memory; nobody may append
// meanwhile. Torn lines go, records of a newer format stay as they are.
func (j *Journal) Strip(stream string, drop func(record json.RawMessage) []string) error {
	name, err := j.file(stream)
	if err != nil {
		return err
	}
	raw, err := j.dir.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", stream, err)
	}
	out := make([]byte, 0, len(raw))
	for line := range bytes.Lines(raw) {
		kept := bytes.TrimSpace(line)
		err := record(kept, func(r json.RawMessage) (err error) {
			kept, err = without(r, drop(r))
			return err
		})
		if err != nil && !errors.Is(err, ErrVersion) {
			return fmt.Errorf("strip %s: %w", stream, err)
		}
		if json.Valid(kept) {
			out = append(append(out, kept...), '\n')
		}
	}
	if bytes.Equal(out, raw) {
		return nil
	}
	if err := j.dir.Write(name, out, 0o600); err != nil {
		return fmt.Errorf("strip %s: %w", stream, err)
	}
	return nil
}

// without returns an object without the named members, the others as they are and
// in their order.
func without(object json.RawMessage, names []string) ([]byte, error) {
	if len(names) == 0 {
		return object, nil
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if slices.Contains(names, name.(string)) { // the names of an object's members are strings
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}
