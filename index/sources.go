package index

import (
	"encoding/binary"
	"fmt"

	"github.com/memsearch/memsearch/internal/vault"
)

// A source is one file of the vault as it stood when it was indexed. It is what
// a walk is compared with, so it holds all that tells an unchanged file.
type source struct {
	Path, OSPath       string
	Size, MTime, CTime int64
	Inode              uint64
	Hash               uint64 // xxhash64 of the bytes
	File               uint32 // number in the keys; 0 when nothing was indexed
	Units              uint32
	Racy               bool   // changed so shortly before it was read that a later edit may look the same
	Modified           bool   // a unit has no better date than the modification time
	Linked             bool   // what is indexed depends on which other files there are
	Unread             bool   // Skip says why it could not be read
	Declared           string // id that the file asks for; empty: none
	ID                 string // id that its memory has
	Skip               string // why nothing was indexed; empty: it was
}

func (s *source) entry() vault.Entry {
	return vault.Entry{Path: s.Path, OSPath: s.OSPath, Size: s.Size, MTime: s.MTime, CTime: s.CTime, Inode: s.Inode}
}

// sameStat reports whether e shows no sign of a change since s was read.
func (s *source) sameStat(e *vault.Entry) bool {
	return s.Size == e.Size && s.MTime == e.MTime && s.CTime == e.CTime && s.Inode == e.Inode && s.OSPath == e.OSPath
}

// sources.bin, version 1:
//
//	magic [8]byte, version uint32, count uint32
//	count records of sourceSize bytes
//	the strings of all records, in order, without separators
const (
	sourcesMagic   = "MSSOURCE"
	sourcesVersion = 1
	sourceSize     = 5*8 + 8*4
)

const (
	flagRacy = 1 << iota
	flagModified
	flagLinked
	flagUnread
	flagOSPath // OSPath is stored; otherwise it equals Path
)

func (s *source) flags() (f uint32) {
	for _, x := range [...]struct {
		is   bool
		flag uint32
	}{
		{s.Racy, flagRacy}, {s.Modified, flagModified}, {s.Linked, flagLinked},
		{s.Unread, flagUnread}, {s.OSPath != s.Path, flagOSPath},
	} {
		if x.is {
			f |= x.flag
		}
	}
	return f
}

func encodeSources(list []source) []byte {
	text := 0
	for i := range list {
		s := &list[i]
		text += len(s.Path) + len(s.OSPath) + len(s.Declared) + len(s.ID) + len(s.Skip)
	}
	b := make([]byte, 0, len(sourcesMagic)+8+len(list)*sourceSize+text)
	b = append(b, sourcesMagic...)
	b = appendU32s(b, []uint32{sourcesVersion, uint32(len(list))})
	for i := range list {
		s := &list[i]
		for _, v := range [...]uint64{uint64(s.Size), uint64(s.MTime), uint64(s.CTime), s.Inode, s.Hash} {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		flags, os := s.flags(), 0
		if flags&flagOSPath != 0 {
			os = len(s.OSPath)
		}
		b = appendU32s(b, []uint32{s.File, s.Units, flags, uint32(len(s.Path)), uint32(os),
			uint32(len(s.Declared)), uint32(len(s.ID)), uint32(len(s.Skip))})
	}
	for i := range list {
		s := &list[i]
		b = append(b, s.Path...)
		if s.OSPath != s.Path {
			b = append(b, s.OSPath...)
		}
		b = append(b, s.Declared...)
		b = append(b, s.ID...)
		b = append(b, s.Skip...)
	}
	return b
}

func decodeSources(b []byte) ([]source, error) {
	d := &decoder{rest: b}
	d.header(sourcesMagic, sourcesVersion)
	n := int(d.u32())
	if d.err == nil && n > len(d.rest)/sourceSize {
		d.err = errShort
	}
	if d.err != nil {
		return nil, fmt.Errorf("read sources.bin: %w", d.err)
	}
	records := &decoder{rest: d.take(n * sourceSize)}
	blob, at := string(d.rest), uint64(0)
	next := func(n uint32) string {
		s, ok := cut(blob, at, at+uint64(n))
		if !ok && records.err == nil {
			records.err = errShort
		}
		at += uint64(n)
		return s
	}
	list := make([]source, n)
	for i := range list {
		s := &list[i]
		s.Size, s.MTime, s.CTime = int64(records.u64()), int64(records.u64()), int64(records.u64())
		s.Inode, s.Hash = records.u64(), records.u64()
		s.File, s.Units = records.u32(), records.u32()
		flags := records.u32()
		path, os, declared, id, skip := records.u32(), records.u32(), records.u32(), records.u32(), records.u32()
		s.Racy, s.Modified = flags&flagRacy != 0, flags&flagModified != 0
		s.Linked, s.Unread = flags&flagLinked != 0, flags&flagUnread != 0
		s.Path = next(path)
		s.OSPath = s.Path
		if flags&flagOSPath != 0 {
			s.OSPath = next(os)
		}
		s.Declared, s.ID, s.Skip = next(declared), next(id), next(skip)
	}
	if records.err == nil && at != uint64(len(blob)) {
		records.err = fmt.Errorf("%d bytes after the end", uint64(len(blob))-at)
	}
	if records.err != nil {
		return nil, fmt.Errorf("read sources.bin: %w", records.err)
	}
	return list, nil
}
