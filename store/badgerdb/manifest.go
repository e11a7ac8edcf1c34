package badgerdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
)

// Badger reads its MANIFEST, the list of its table files, up to the first incomplete
// record, truncates the file there, and deletes the table files that are then not listed.
// That is right for a record that a crash has torn: the data of its tables is still in
// the logs. It is wrong for a record whose length has a flipped bit: all data in the
// tables would be lost silently. A torn record lacks some of its bytes, so no prefix of
// the remaining ones matches its checksum; a prefix of a complete one does. And the first
// record is never torn: Badger writes it before the file gets its name.

// The layout of badger v4: manifest.go.
const (
	manifestMagic  = "Bdgr\x00\x00\x00\x08" // and versions
	manifestHeader = len(manifestMagic)
	manifestRecord = 8 // length, checksum
)

// manifest is the contents of the MANIFEST.
type manifest struct {
	tables  map[uint64]options.CompressionType // by number
	levels  map[uint64]uint32                  // of the tables
	text    []byte                             // of all whole records
	flushes []int64                            // where the records begin that add what a log held
}

func (m *manifest) lists(id uint64) bool {
	_, listed := m.tables[id]
	return listed
}

// apply applies the record at an offset. A record that adds a single table to level 0 and
// removes none belongs to a log that was written out: Badger makes one for each log with
// entries, in order, and removes the log afterwards.
func (m *manifest) apply(at int, changes []*pb.ManifestChange) {
	if len(changes) == 1 && changes[0].Op == pb.ManifestChange_CREATE && changes[0].Level == 0 {
		m.flushes = append(m.flushes, int64(at))
	}
	for _, c := range changes {
		if c.Op == pb.ManifestChange_DELETE {
			delete(m.tables, c.Id)
			delete(m.levels, c.Id)
			continue
		}
		m.levels[c.Id] = c.Level
		m.tables[c.Id] = options.CompressionType(c.Compression)
	}
}

func manifestFile(dir string) string {
	return filepath.Join(dir, dirfile.Badger, badger.ManifestFilename)
}

// readManifest reads the list of tables. A missing file is an empty list; noManifest
// decides whether it may be missing. It may be called while Badger is running: a record
// that is being appended counts as torn.
func readManifest(dir string) (*manifest, error) {
	m := &manifest{tables: make(map[uint64]options.CompressionType), levels: make(map[uint64]uint32)}
	file := manifestFile(dir)
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if !bytes.HasPrefix(b, []byte(manifestMagic)) {
		return nil, errs.Corrupt(file, "it does not begin as it should")
	}
	if len(b) < manifestHeader+manifestRecord {
		return nil, errs.Corrupt(file, "it has been cut to %d bytes", len(b))
	}
	for at := manifestHeader; at+manifestRecord <= len(b); {
		length, sum := uint64(binary.BigEndian.Uint32(b[at:])), binary.BigEndian.Uint32(b[at+4:])
		data := b[at+manifestRecord:]
		whole := length <= uint64(len(data))
		if !whole && at > manifestHeader && !beginsWithSum(data, sum) {
			return m, nil // torn
		}
		var set pb.ManifestChangeSet
		if !whole || crc32.Checksum(data[:length], castagnoli) != sum || proto.Unmarshal(data[:length], &set) != nil {
			return nil, errs.Corrupt(file, "the record at byte %d is broken", at)
		}
		m.apply(at, set.Changes)
		at += manifestRecord + int(length)
		m.text = b[:at]
	}
	return m, nil
}

// mark describes the list for the high-water mark.
func (m *manifest) mark() manifestMark {
	return manifestMark{Bytes: int64(len(m.text)), Sum: crc32.Checksum(m.text, castagnoli), First: m.first()}
}

// first has the length and the checksum of the first record.
func (m *manifest) first() uint32 {
	return crc32.Checksum(m.text[min(len(m.text), manifestHeader):min(len(m.text), manifestHeader+manifestRecord)], castagnoli)
}

// since counts the logs that were written out to tables since the mark. The number is
// unknown if Badger has rewritten the list, which it does after 10,000 deletions.
func (m *manifest) since(mark manifestMark) (flushed int, known bool, err error) {
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

// noManifest checks that a directory without a MANIFEST holds no other file of Badger's:
// the MANIFEST is the first file that Badger makes. If it is missing, Badger makes an
// empty one and removes all tables, because they are not in it.
func noManifest(dir string, files []string) error {
	for _, file := range files {
		switch filepath.Base(file) {
		case "LOCK", "MANIFEST-REWRITE":
		default:
			return errs.Corrupt(manifestFile(dir), "it is missing, and %s is there", filepath.Base(file))
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
