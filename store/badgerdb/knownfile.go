package badgerdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
)

// The file KNOWN is a filter as it was when the table was closed. All integers are
// big-endian:
//
//	indexer known columns 2
//	group [8]       the last group
//	manifest [4]    the checksum of the MANIFEST
//	lacks [16]      locality groups that the filter lacks: a bit for each id from 0x80 on
//	left [8]        how many more the last layer takes
//	layers [4]      their number; then of each the length in bytes [8] and the bits
//	checksum [4]    CRC-32C of everything before it
//
// Then come records, one for each later closing that added few rows and columns:
//
//	group [8]       the last group by then
//	manifest [4]    the checksum of the MANIFEST by then
//	hashes [4]      their number, and the hashes [8] of what was added
//	checksum [4]    CRC-32C of everything before it in the file except earlier checksums
//
// The file saves time and nothing else. If it is missing, damaged, or of another state of the table, it is
// not used. A process that is killed while it appends a record leaves a damaged file.
const (
	knownName  = "KNOWN"
	knownMagic = "indexer known columns 2\n"
	// The records may take one knownTail-th of a file. Reading a hash takes longer than reading
	// as many bits.
	knownTail = 8
	// knownRecord is the length of a record without hashes.
	knownRecord = 20
)

// knownFile is how a filter differs from the file that it was read from.
type knownFile struct {
	size  int64    // of the file; 0: there is none, or it lacks more than later
	sum   uint32   // its last checksum
	tail  int      // bytes of its records
	later []uint64 // hashes that it lacks
}

// note notes a hash that was added to the filter.
func (f *knownFile) note(h uint64) {
	if f.size == 0 {
		return
	}
	f.later = append(f.later, h)
	if !f.hasRoom() {
		f.isBehind()
	}
}

// hasRoom reports whether a record of what the file lacks may be appended.
func (f *knownFile) hasRoom() bool {
	return f.size > 0 && int64(f.tail+knownRecord+8*len(f.later)) <= f.size/knownTail
}

// isBehind notes that the file lacks too much.
func (f *knownFile) isBehind() { *f = knownFile{} }

// write writes the filter for a table that was closed after a group.
func (k *known) write(dir string, group uint64, manifest uint32) error {
	layers := *k.layers.Load()
	b := binary.BigEndian.AppendUint64([]byte(knownMagic), group)
	b = binary.BigEndian.AppendUint32(b, manifest)
	for _, word := range k.lacks {
		b = binary.BigEndian.AppendUint64(b, word)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(k.left))
	b = binary.BigEndian.AppendUint32(b, uint32(len(layers)))
	for _, l := range layers {
		b = binary.BigEndian.AppendUint64(b, uint64(len(l)*8))
		for i := range l {
			b = binary.BigEndian.AppendUint64(b, l[i].Load())
		}
	}
	if err := dirfile.Replace(dir, knownName, withSum(b, 0)); err != nil {
		return fmt.Errorf("store: write %s: %w", knownName, err)
	}
	return nil
}

// appendRecord appends what the file lacks, for a table that was closed after a group. It returns
// false if the file is not the one that was read.
func (k *known) appendRecord(dir string, group uint64, manifest uint32) (appended bool, err error) {
	b := binary.BigEndian.AppendUint64(nil, group)
	b = binary.BigEndian.AppendUint32(b, manifest)
	b = binary.BigEndian.AppendUint32(b, uint32(len(k.file.later)))
	for _, h := range k.file.later {
		b = binary.BigEndian.AppendUint64(b, h)
	}
	f, err := os.OpenFile(filepath.Join(dir, knownName), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return false, nil // it is written anew
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || info.Size() != k.file.size {
		return false, nil // likewise
	}
	if _, err := f.Write(withSum(b, k.file.sum)); err != nil {
		return false, fmt.Errorf("store: append to %s: %w", knownName, err)
	}
	return true, nil
}

// recordKnown writes the filter of a table that was closed, unless the file is still good.
func (db *DB) recordKnown(opened baseline) error {
	k, now := db.known.Load(), &db.mark.baseline
	if k == nil || k.since.Load() == never || db.knownRead && opened.Group == now.Group && opened.List.Sum == now.List.Sum {
		return nil
	}
	if k.file.hasRoom() {
		if appended, err := k.appendRecord(db.dir, now.Group, now.List.Sum); appended || err != nil {
			return err
		}
	}
	return k.write(db.dir, now.Group, now.List.Sum)
}

// readKnown returns the filter of a table that was closed after a group; nil if there is
// none for this state and these groups.
func (db *DB) readKnown() *known {
	b, err := os.ReadFile(filepath.Join(db.dir, knownName))
	if err != nil {
		return nil
	}
	k := parseKnown(b, db.mark.Group, db.mark.List.Sum, db.sizes.known)
	if k == nil || !k.serves(db.groups) {
		return nil
	}
	lacked := k.lacks
	if k.leaveOut(db.groups); k.lacks != lacked {
		k.file.isBehind()
	}
	return k
}

// parseKnown returns the filter in a file, if it is of this state of the table.
func parseKnown(b []byte, group uint64, manifest uint32, most int) *known {
	r := &partReader{rest: b}
	if string(r.take(len(knownMagic))) != knownMagic {
		return nil
	}
	k := &known{most: max(most&^63, knownFirst)}
	lastGroup, lastManifest := r.uint64(), r.uint32()
	for i := range k.lacks {
		k.lacks[i] = r.uint64()
	}
	left := int64(r.uint64())
	layers := readLayers(r)
	if !r.endPart() || len(layers) == 0 {
		return nil
	}
	k.layers.Store(&layers)
	k.left = left
	base := len(b) - len(r.rest)
	for len(r.rest) > 0 {
		lastGroup, lastManifest = r.uint64(), r.uint32()
		hashes := r.take(8 * int(r.uint32()))
		if !r.endPart() {
			return nil
		}
		for ; len(hashes) > 0; hashes = hashes[8:] {
			k.addHash(binary.BigEndian.Uint64(hashes))
		}
	}
	if lastGroup != group || lastManifest != manifest {
		return nil
	}
	k.file = knownFile{size: int64(len(b)), sum: r.sum, tail: len(b) - base}
	return k
}

// readLayers reads the layers of a filter. It returns none if they are not valid.
func readLayers(r *partReader) (layers []knownLayer) {
	for n := r.uint32(); n > 0 && !r.failed; n-- {
		size := r.uint64()
		if size == 0 || size > uint64(len(r.rest)) || size%(8*knownBlockWords) != 0 {
			r.failed = true
			return nil
		}
		bits := r.take(int(size))
		l := make(knownLayer, size/8)
		for i := range l {
			l[i].Store(binary.BigEndian.Uint64(bits[8*i:]))
		}
		layers = append(layers, l)
	}
	return layers
}
