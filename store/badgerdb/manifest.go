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
)

// Badger reads its MANIFEST, the list of its table files, up to the first record that
// the file is too short for, cuts the rest off, and deletes the table files that are
// then on no list. That is right for a record that a crash has torn: what it lists
// is still in the logs. It is wrong for a record whose length has a flipped bit: all
// that the tables hold would be gone, without a word. A torn record has not all its
// bytes, so no beginning of what is there has its checksum; one that is whole has. And
// the first one is never torn: Badger writes it before the file gets its name.

// The layout of badger v4: manifest.go.
const (
	manifestMagic  = "Bdgr\x00\x00\x00\x08" // and versions
	manifestHeader = len(manifestMagic)
	manifestRecord = 8 // length, checksum
)

// manifest is what the MANIFEST says.
type manifest struct {
	tables map[uint64]options.CompressionType // by number
}

func (m *manifest) lists(id uint64) bool {
	_, listed := m.tables[id]
	return listed
}

func (m *manifest) apply(changes []*pb.ManifestChange) {
	for _, c := range changes {
		if c.Op == pb.ManifestChange_DELETE {
			delete(m.tables, c.Id)
			continue
		}
		m.tables[c.Id] = options.CompressionType(c.Compression)
	}
}

func manifestFile(dir string) string { return filepath.Join(dir, badgerDir, badger.ManifestFilename) }

// readManifest reads the list of tables. A missing file is an empty list; whether it may
// be missing is for noManifest to say. It may be called while Badger is running: a record
// that is being appended is a torn one.
func readManifest(dir string) (*manifest, error) {
	m := &manifest{tables: map[uint64]options.CompressionType{}}
	file := manifestFile(dir)
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if !bytes.HasPrefix(b, []byte(manifestMagic)) {
		return nil, corrupt(file, "it does not begin as it should")
	}
	if len(b) < manifestHeader+manifestRecord {
		return nil, corrupt(file, "it has been cut to %d bytes", len(b))
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
			return nil, corrupt(file, "the record at byte %d is broken", at)
		}
		m.apply(set.Changes)
		at += manifestRecord + int(length)
	}
	return m, nil
}

// noManifest checks that a directory without a MANIFEST holds nothing else of Badger's:
// it is the first file that Badger makes. Where it is missing Badger makes an empty one
// and removes all tables, for they are not on it.
func noManifest(dir string, files []string) error {
	for _, file := range files {
		switch filepath.Base(file) {
		case "LOCK", "MANIFEST-REWRITE":
		default:
			return corrupt(manifestFile(dir), "it is missing, and %s is there", filepath.Base(file))
		}
	}
	return nil
}

// beginsWithSum holds if some bytes from the beginning, at least one, have a checksum.
func beginsWithSum(data []byte, sum uint32) bool {
	c := uint32(0)
	for i := range data {
		if c = crc32.Update(c, castagnoli, data[i:i+1]); c == sum {
			return true
		}
	}
	return false
}
