package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memsearch/memsearch/index/key"
)

// noUnit stands in a docmap for a document that belongs to no unit: a deleted
// one.
const noUnit = ^uint32(0)

// A unitTable numbers the units of a generation. Ordinals follow the byte order
// of the unit ids, so a tie that is broken by ordinal is broken by id.
type unitTable struct {
	ids   string   // all ids, one after another
	ends  []uint32 // by ordinal: where its id ends in ids
	keys  []key.Key
	byKey []uint32 // ordinals in the order of their keys
	docs  []uint32 // by document number of the lexical index: the ordinal, or noUnit
}

// A unitRef is a unit on its way into a table.
type unitRef struct {
	id  string
	key key.Key
}

var errTooLarge = errors.New("too many units for one index")

// newUnitTable sorts refs, which it changes.
func newUnitTable(refs []unitRef) (*unitTable, error) {
	slices.SortFunc(refs, func(a, b unitRef) int {
		return cmp.Or(strings.Compare(a.id, b.id), cmp.Compare(a.key, b.key))
	})
	size := 0
	for _, r := range refs {
		size += len(r.id)
	}
	if uint64(size) >= 1<<32 || uint64(len(refs)) >= uint64(noUnit) {
		return nil, errTooLarge
	}
	t := &unitTable{ends: make([]uint32, len(refs)), keys: make([]key.Key, len(refs))}
	var ids strings.Builder
	ids.Grow(size)
	for i, r := range refs {
		ids.WriteString(r.id)
		t.ends[i], t.keys[i] = uint32(ids.Len()), r.key
	}
	t.ids = ids.String()
	t.byKey = t.order()
	return t, nil
}

func (t *unitTable) order() []uint32 {
	byKey := make([]uint32, len(t.keys))
	for i := range byKey {
		byKey[i] = uint32(i)
	}
	slices.SortFunc(byKey, func(a, b uint32) int { return cmp.Compare(t.keys[a], t.keys[b]) })
	return byKey
}

func (t *unitTable) len() int { return len(t.keys) }

func (t *unitTable) id(ord uint32) string {
	from := uint32(0)
	if ord > 0 {
		from = t.ends[ord-1]
	}
	return t.ids[from:t.ends[ord]]
}

// ordinal returns the ordinal of the unit that k, a key of it or of one of its
// chunks, belongs to.
func (t *unitTable) ordinal(k key.Key) (uint32, bool) {
	k = k.UnitKey()
	i, ok := slices.BinarySearchFunc(t.byKey, k, func(ord uint32, k key.Key) int { return cmp.Compare(t.keys[ord], k) })
	if !ok {
		return 0, false
	}
	return t.byKey[i], true
}

// find returns the ordinal of the unit called id.
func (t *unitTable) find(id string) (uint32, bool) {
	lo, hi := 0, t.len()
	for lo < hi {
		if mid := (lo + hi) / 2; t.id(uint32(mid)) < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return uint32(lo), lo < t.len() && t.id(uint32(lo)) == id
}

// mapDocs fills docs from the keys that the lexical index has by document
// number, those that are dead excepted.
func (t *unitTable) mapDocs(keys []key.Key, dead key.Key) error {
	t.docs = make([]uint32, len(keys))
	for i, k := range keys {
		if k == dead {
			t.docs[i] = noUnit
			continue
		}
		ord, ok := t.ordinal(k)
		if !ok {
			return fmt.Errorf("document %d has key %x, which no unit has", i, uint64(k))
		}
		t.docs[i] = ord
	}
	return nil
}

// units.bin, version 1:
//
//	magic [8]byte, version uint32, units uint32, docs uint32, length of ids uint32
//	ends   units * uint32
//	keys   units * uint64
//	byKey  units * uint32
//	docs   docs * uint32
//	ids
const (
	unitsMagic   = "MSUNITS\n"
	unitsVersion = 1
)

func (t *unitTable) encode() []byte {
	b := make([]byte, 0, len(unitsMagic)+16+16*len(t.keys)+4*len(t.docs)+len(t.ids))
	b = append(b, unitsMagic...)
	b = appendU32s(b, []uint32{unitsVersion, uint32(len(t.keys)), uint32(len(t.docs)), uint32(len(t.ids))})
	b = appendU32s(b, t.ends)
	for _, k := range t.keys {
		b = binary.LittleEndian.AppendUint64(b, uint64(k))
	}
	b = appendU32s(b, t.byKey)
	b = appendU32s(b, t.docs)
	return append(b, t.ids...)
}

func decodeUnits(b []byte) (*unitTable, error) {
	d := &decoder{rest: b}
	d.header(unitsMagic, unitsVersion)
	n, docs, ids := int(d.u32()), int(d.u32()), int(d.u32())
	t := &unitTable{ends: d.u32s(n)}
	if raw := d.take(8 * n); raw != nil {
		t.keys = make([]key.Key, n)
		for i := range t.keys {
			t.keys[i] = key.Key(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	}
	t.byKey, t.docs = d.u32s(n), d.u32s(docs)
	t.ids = string(d.take(ids))
	if err := d.end(); err != nil {
		return nil, fmt.Errorf("read units.bin: %w", err)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("read units.bin: %w", err)
	}
	return t, nil
}

// check makes sure that no lookup can go out of bounds or for ever astray.
func (t *unitTable) check() error {
	last := uint32(0)
	for ord, end := range t.ends {
		if end < last || end > uint32(len(t.ids)) {
			return fmt.Errorf("id of unit %d is out of bounds", ord)
		}
		last = end
	}
	if int(last) != len(t.ids) {
		return errors.New("ids are longer than the units say")
	}
	for i, ord := range t.byKey {
		if ord >= uint32(len(t.keys)) || i > 0 && t.keys[t.byKey[i-1]] >= t.keys[ord] {
			return errors.New("units are not in the order of their keys")
		}
	}
	for doc, ord := range t.docs {
		if ord != noUnit && ord >= uint32(len(t.keys)) {
			return fmt.Errorf("document %d has no unit", doc)
		}
	}
	return nil
}
