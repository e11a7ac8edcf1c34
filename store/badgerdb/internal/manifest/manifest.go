// Package manifest reads the MANIFEST, in which Badger lists its table files.
//
// Badger itself reads it up to the first incomplete record, truncates the file there, and
// deletes the table files that are then not listed. That is right for a record that a
// crash has torn: the data of its tables is still in the logs. It is wrong for a record
// whose length has a flipped bit: all data in the tables would be lost silently. A torn
// record lacks some of its bytes, so no prefix of the remaining ones matches its checksum;
// a prefix of a complete one does. And the first record is never torn: Badger writes it
// before the file gets its name.
package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
)

// The layout of badger v4: manifest.go.
const (
	magic        = "Bdgr\x00\x00\x00\x08" // and versions
	header       = len(magic)
	recordHeader = 8 // length, checksum
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// List is the contents of the MANIFEST.
type List struct {
	Tables  map[uint64]options.CompressionType // by number
	Levels  map[uint64]uint32                  // of the tables
	text    []byte                             // of all whole records
	flushes []int64                            // where the records begin that add what a log held
	Last    Record
}

// Record is a record of the list.
type Record struct {
	Added, Removed []uint64
}

// New is the list of a new table, which Badger makes with a record without tables.
func New() *List {
	m := newList()
	m.text = append([]byte(magic), make([]byte, recordHeader)...)
	return m
}

// Lists reports whether a table is in the list.
func (m *List) Lists(id uint64) bool {
	_, listed := m.Tables[id]
	return listed
}

// apply applies the record at an offset. A record that adds a single table to level 0 and
// removes none belongs to a log that was written out: Badger makes one for each log with
// entries, in order, and removes the log afterwards.
func (m *List) apply(at int, changes []*pb.ManifestChange) {
	if len(changes) == 1 && changes[0].Op == pb.ManifestChange_CREATE && changes[0].Level == 0 {
		m.flushes = append(m.flushes, int64(at))
	}
	m.Last = Record{}
	for _, c := range changes {
		if c.Op == pb.ManifestChange_DELETE {
			delete(m.Tables, c.Id)
			delete(m.Levels, c.Id)
			m.Last.Removed = append(m.Last.Removed, c.Id)
			continue
		}
		m.Last.Added = append(m.Last.Added, c.Id)
		m.Levels[c.Id] = c.Level
		m.Tables[c.Id] = options.CompressionType(c.Compression)
	}
}

// File is the MANIFEST of the table in a directory.
func File(dir string) string {
	return filepath.Join(dir, dirfile.Badger, badger.ManifestFilename)
}

// Read reads the list of tables. A missing file is an empty list; CheckMissing
// decides whether it may be missing. It may be called while Badger is running: a record
// that is being appended counts as torn.
func Read(dir string) (*List, error) {
	file := File(dir)
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return newList(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return parse(file, b)
}

func newList() *List {
	return &List{Tables: make(map[uint64]options.CompressionType), Levels: make(map[uint64]uint32)}
}

func parse(file string, b []byte) (*List, error) {
	m := newList()
	if !bytes.HasPrefix(b, []byte(magic)) {
		return nil, errs.Corrupt(file, "it does not begin as it should")
	}
	if len(b) < header+recordHeader {
		return nil, errs.Corrupt(file, "it has been cut to %d bytes", len(b))
	}
	m.text = b[:header]
	return m, m.read(file, b)
}

// Next is the list with the records that Badger has added to the open MANIFEST since. If Badger has rewritten
// the MANIFEST instead, all changes since count as its last record.
func (m *List) Next(f *os.File) (next *List, rewritten bool, err error) {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		return nil, false, fmt.Errorf("store: reading %s: %w", f.Name(), err)
	}
	if !bytes.HasPrefix(b, m.text) {
		if next, err = parse(f.Name(), b); err != nil {
			return nil, true, err
		}
		next.Last = next.since(m)
		return next, true, nil
	}
	next = &List{Tables: maps.Clone(m.Tables), Levels: maps.Clone(m.Levels), text: m.text, flushes: m.flushes, Last: m.Last}
	return next, false, next.read(f.Name(), b)
}

// since is a record of what has changed since an earlier list.
func (m *List) since(before *List) (r Record) {
	for id := range m.Tables {
		if !before.Lists(id) {
			r.Added = append(r.Added, id)
		}
	}
	for id := range before.Tables {
		if !m.Lists(id) {
			r.Removed = append(r.Removed, id)
		}
	}
	return r
}

// Undo is a record that makes an earlier list of this one.
func (m *List) Undo(before *List) ([]byte, error) {
	var set pb.ManifestChangeSet
	changed := m.since(before)
	for _, id := range changed.Added {
		set.Changes = append(set.Changes, &pb.ManifestChange{Id: id, Op: pb.ManifestChange_DELETE})
	}
	for _, id := range changed.Removed {
		set.Changes = append(set.Changes, &pb.ManifestChange{Id: id, Op: pb.ManifestChange_CREATE, Level: before.Levels[id], Compression: uint32(before.Tables[id])})
	}
	data, err := proto.Marshal(&set)
	if err != nil {
		return nil, err
	}
	record := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	record = binary.BigEndian.AppendUint32(record, crc32.Checksum(data, castagnoli))
	return append(record, data...), nil
}

// read reads the records of b behind those that the list has.
func (m *List) read(file string, b []byte) error {
	for at := len(m.text); at+recordHeader <= len(b); {
		length, sum := uint64(binary.BigEndian.Uint32(b[at:])), binary.BigEndian.Uint32(b[at+4:])
		data := b[at+recordHeader:]
		whole := length <= uint64(len(data))
		if !whole && at > header && !beginsWithSum(data, sum) {
			return nil // torn
		}
		var set pb.ManifestChangeSet
		if !whole || crc32.Checksum(data[:length], castagnoli) != sum || proto.Unmarshal(data[:length], &set) != nil {
			return errs.Corrupt(file, "the record at byte %d is broken", at)
		}
		m.apply(at, set.Changes)
		at += recordHeader + int(length)
		m.text = b[:at]
	}
	return nil
}

// Mark describes a MANIFEST as it was at some time. It only grows, unless Badger rewrites it:
// then its first record differs.
type Mark struct {
	Bytes int64  `json:"bytes"`
	Sum   uint32 `json:"sum"`   // of all Bytes
	First uint32 `json:"first"` // checksum of the head of the first record
}

// Bytes is the length of the list in its file.
func (m *List) Bytes() int64 { return int64(len(m.text)) }

// Mark describes the list.
func (m *List) Mark() Mark {
	return Mark{Bytes: int64(len(m.text)), Sum: crc32.Checksum(m.text, castagnoli), First: m.first()}
}

// first is the checksum of the head of the first record: of its length and its checksum.
func (m *List) first() uint32 {
	return crc32.Checksum(m.text[min(len(m.text), header):min(len(m.text), header+recordHeader)], castagnoli)
}

// Since counts the logs that were written out to tables since the mark. The number is
// unknown if Badger has rewritten the list, which it does after 10,000 deletions.
func (m *List) Since(mark Mark) (flushed int, known bool, err error) {
	begins := int64(len(m.text)) >= mark.Bytes && crc32.Checksum(m.text[:mark.Bytes], castagnoli) == mark.Sum
	if !begins && mark.Bytes > 0 && m.first() == mark.First {
		return 0, false, fmt.Errorf("it has been cut from %d to %d bytes", mark.Bytes, len(m.text))
	}
	for _, at := range m.flushes {
		if at >= mark.Bytes {
			flushed++
		}
	}
	return flushed, begins, nil
}

// Empty reports whether there is no list: not even one without tables.
func (m *List) Empty() bool { return len(m.text) == 0 }

// CheckMissing checks that a directory without a MANIFEST holds no other file of Badger's:
// the MANIFEST is the first file that Badger makes. If it is missing, Badger makes an
// empty one and removes all tables, because they are not in it.
func CheckMissing(dir string, files []string) error {
	for _, file := range files {
		switch filepath.Base(file) {
		case "LOCK", "MANIFEST-REWRITE":
		default:
			return errs.Corrupt(File(dir), "it is missing, and %s is there", filepath.Base(file))
		}
	}
	return nil
}

// beginsWithSum reports whether some non-empty prefix of the bytes has a checksum.
func beginsWithSum(data []byte, sum uint32) bool {
	c := uint32(0)
	for i := range data {
		if c = crc32.Update(c, castagnoli, data[i:i+1]); c == sum {
			return true
		}
	}
	return false
}
