package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/journal"
	"github.com/memsearch/memsearch/internal/memfile"
)

// Forgets returns a number that grows whenever something is forgotten. An index
// made when it was smaller may still hold that.
func (v *Vault) Forgets() int64 { return v.journal.Burials() }

// A Target names what to forget: a file, or one unit of it.
type Target struct {
	Path   string
	UnitID string // empty, or the memory's own id: the whole file
}

// Forgotten says what [Writer.Forget] touched.
type Forgotten struct {
	Removed []string // files that are gone
	Edited  []string // files that lost lines, the catalog among them
	Texts   []string // what is forgotten, for the caller to prove it; never stored
}

// Forget removes memories and units from the files and from the catalog, and
// records them as forgotten, first of all. Leftovers of interrupted writes go
// too. With dryRun it only says what it would do.
func (w *Writer) Forget(ctx context.Context, targets []Target, dryRun bool) (Forgotten, error) {
	var out Forgotten
	err := w.run(ctx, "forget", func(ctx context.Context) error {
		jobs, err := w.plan(targets)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			out.Texts = append(out.Texts, j.texts...)
			if j.whole {
				out.Removed = append(out.Removed, j.entry.Path)
			} else {
				out.Edited = append(out.Edited, j.entry.Path)
			}
		}
		if !dryRun {
			err = w.bury(jobs)
		}
		if err != nil {
			return err
		}
		// The catalog goes before the files: as long as a file is there, a forgetting
		// that was interrupted can be asked for again.
		edited, cerr := w.unlist(ctx, out.Removed, dryRun)
		if !dryRun {
			err = errors.Join(w.hush(jobs), w.removeBuried(ctx, jobs))
		}
		out.Edited = append(out.Edited, edited...)
		slices.Sort(out.Edited)
		out.Edited = slices.Compact(out.Edited)
		return errors.Join(err, cerr)
	})
	return out, err
}

// A job is what is to be forgotten of one file.
type job struct {
	entry Entry
	id    string
	whole bool
	units []string // ids
	texts []string
	made  []string // source events, when the whole file goes
}

func (w *Writer) plan(targets []Target) ([]*job, error) {
	var jobs []*job
	for _, t := range targets {
		e, err := w.v.locate(t.Path)
		if err != nil {
			return nil, err
		}
		raw, err := w.v.ReadEntry(e)
		if err != nil {
			return nil, err
		}
		f := memfile.Parse(e.Path, raw, nil)
		i := slices.IndexFunc(jobs, func(j *job) bool { return j.entry.Path == e.Path })
		if i < 0 {
			i = len(jobs)
			jobs = append(jobs, &job{entry: e, id: f.Memory.ID})
		}
		if err := jobs[i].add(t, f, raw); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

func (j *job) add(t Target, f *memfile.File, raw []byte) error {
	if t.UnitID != "" && t.UnitID != f.Memory.ID && t.UnitID != memfile.PathID(j.entry.Path) {
		i := slices.IndexFunc(f.Units, func(u memsearch.Unit) bool { return u.ID == t.UnitID })
		switch {
		case i < 0:
			return refuse(RuleMissing, "unit", "there is no such unit")
		case len(f.Units) > 1:
			if _, err := withoutUnits(raw, f, []string{t.UnitID}); err != nil {
				return err
			}
			if !slices.Contains(j.units, t.UnitID) {
				j.units = append(j.units, t.UnitID)
				j.texts = append(j.texts, f.Units[i].Text)
			}
			j.whole = j.whole || len(j.units) == len(f.Units)
		default:
			j.whole = true
		}
	} else {
		j.whole = true
	}
	if j.whole {
		j.texts = []string{f.Text[f.Body[0]:f.Body[1]]}
		for _, u := range f.Units {
			j.texts = append(j.texts, u.Text)
		}
		if f.Memory.Summary != "" {
			j.texts = append(j.texts, f.Memory.Summary)
		}
		j.made = events(&f.Memory)
	}
	return nil
}

// withoutUnits returns raw without the lines of some units, nor the blank lines
// that follow them.
func withoutUnits(raw []byte, f *memfile.File, ids []string) ([]byte, error) {
	const bom = "\ufeff"
	body, marked := bytes.CutPrefix(raw, []byte(bom))
	if string(bytes.ReplaceAll(body, []byte{0}, []byte(" "))) != f.Text {
		return nil, refuse(RuleFile, "unit", "the file is not UTF-8, so that only the whole of it can be forgotten")
	}
	var out []byte
	if marked {
		out = append(out, bom...)
	}
	from := 0
	for _, u := range f.Units {
		if slices.Contains(ids, u.ID) {
			out = append(out, body[from:max(from, u.Bytes[0])]...)
			from = u.Bytes[1]
			for from < len(body) && (body[from] == '\n' || body[from] == '\r') {
				from++
			}
		}
	}
	return append(out, body[from:]...), nil
}

// bury records the jobs as forgotten. A crash before they are carried out leaves a
// file that must not come back but is still there: forgetting it again finishes
// that.
func (w *Writer) bury(jobs []*job) error {
	for _, j := range jobs {
		if err := w.v.journal.Bury(w.v.opts.Now(), j.id, j.texts, j.made); err != nil {
			return err
		}
	}
	return nil
}

// hush takes out of the journal what it says of the jobs in words: the reasons
// given for them, and the paths that it kept in earlier times.
func (w *Writer) hush(jobs []*job) error {
	return w.v.journal.Strip(journal.Lifecycle, func(record json.RawMessage) []string {
		var e event
		if err := json.Unmarshal(record, &e); err != nil || e.Event == eventExported {
			return nil
		}
		if slices.ContainsFunc(jobs, func(j *job) bool { return j.id == e.ID }) {
			return []string{"path", "reason"}
		}
		return []string{"path"}
	})
}

// removeBuried carries the jobs out.
func (w *Writer) removeBuried(ctx context.Context, jobs []*job) error {
	var errs []error
	for _, j := range jobs {
		var err error
		if j.whole {
			if err = w.v.dir.Remove(j.entry.OSPath); err == nil || errors.Is(err, fs.ErrNotExist) {
				err = w.v.dir.SyncDir(path.Dir(j.entry.OSPath))
			}
		} else {
			err = w.rewrite(ctx, j.entry, func(raw []byte) ([]byte, error) {
				return withoutUnits(raw, memfile.Parse(j.entry.Path, raw, nil), j.units)
			})
		}
		if err == nil {
			w.note(event{Event: "forgotten", ID: j.id})
			err = w.v.journal.Buried(w.v.opts.Now(), j.id)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, w.removeTemps(ctx))...)
}

// unlist takes the removed files out of every MEMORY.md: our block is made anew,
// and lines of others that begin with a link to such a file go.
func (w *Writer) unlist(ctx context.Context, removed []string, dryRun bool) (edited []string, err error) {
	entries, _, err := w.v.Walk(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if path.Base(e.Path) != memfile.CatalogName || slices.Contains(removed, e.Path) {
			continue
		}
		before, err := w.v.ReadEntry(e)
		if err != nil {
			return edited, err
		}
		without := func(raw []byte) ([]byte, error) {
			out := withoutLinks(raw, path.Dir(e.Path), removed)
			return out, nil
		}
		if !dryRun {
			if err := w.rewrite(ctx, e, without); err != nil {
				return edited, err
			}
			if e.Path == memfile.CatalogName {
				if err := w.refreshCatalog(ctx, removed...); err != nil {
					return edited, err
				}
			}
			after, err := w.v.ReadEntry(e)
			if err == nil && !bytes.Equal(before, after) {
				edited = append(edited, e.Path)
			}
		} else if after, _ := without(before); !bytes.Equal(before, after) {
			edited = append(edited, e.Path)
		}
	}
	return edited, nil
}

// withoutLinks returns raw without the lines that begin with a link to one of
// the files. Targets are relative to dir or to the vault.
func withoutLinks(raw []byte, dir string, files []string) []byte {
	if len(files) == 0 {
		return raw
	}
	out := []byte{}
	for at := 0; at < len(raw); {
		next := nextLine(raw, at)
		if target, wiki := memfile.CatalogLink(string(raw[at:next])); target == "" || !leadsTo(target, wiki, dir, files) {
			out = append(out, raw[at:next]...)
		}
		at = next
	}
	return out
}

func leadsTo(target string, wiki bool, dir string, files []string) bool {
	if s, err := url.PathUnescape(target); err == nil {
		target = s
	}
	target = Name(strings.TrimPrefix(target, "/"))
	return slices.ContainsFunc(files, func(f string) bool {
		for _, full := range []string{path.Join(dir, target), path.Clean(target)} {
			if full == f || full+path.Ext(f) == f {
				return true
			}
		}
		stem := strings.TrimSuffix(path.Base(f), path.Ext(f))
		return wiki && target == stem // it names no folder
	})
}
