package badgerdb

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
)

// The file RESIDENT has the cells of Resident groups as they were when the table was closed, so that
// opening it takes no scan. After a load, a scan of an empty group takes long: it steps over the
// tombstones of all cells that were ever in it, until they are compacted.
//
//	indexer resident cells 1
//	group [8]       the last group of writes
//	manifest [4]    the checksum of the MANIFEST
//	groups [4]      the number of locality groups; then of each its id [4], the number of
//	                cells [4], and of each cell its timestamp [8], the length of its key [4], the key
//	checksum [4]    CRC-32C of everything before it
//
// All integers are big-endian.
//
// It lacks groups whose set is lost or large. A file that is missing, damaged, or of another state of the
// table is not used.
//
// Danger: a lock or a notification that the file lacks is lost. So the file is written last, when Badger
// has synced and closed its files and HIGHWATER says so, and it holds for that group only. Any later
// write has a higher group, and the number of a group that a lost machine has taken is not given
// again (progress.next).

const (
	residentName  = "RESIDENT"
	residentMagic = "indexer resident cells 1\n"
	// residentCells is how many cells of a group the file may have. A scan of more than that is
	// not much slower than reading them.
	residentCells = 1 << 14
)

// recordResidents writes the file for a table that was closed. The committer has ended.
func (db *DB) recordResidents() error {
	now := &db.mark.baseline
	var groups []byte
	n := uint32(0)
	for i, set := range db.committer.residents {
		if set == nil || set.lost || len(set.cells) > residentCells {
			continue
		}
		n++
		groups = binary.BigEndian.AppendUint32(groups, uint32(db.groups[i].id))
		groups = binary.BigEndian.AppendUint32(groups, uint32(len(set.cells)))
		for key, ts := range set.cells {
			groups = binary.BigEndian.AppendUint64(groups, ts)
			groups = append(binary.BigEndian.AppendUint32(groups, uint32(len(key))), key...)
		}
	}
	b := binary.BigEndian.AppendUint64([]byte(residentMagic), now.Group)
	b = binary.BigEndian.AppendUint32(b, now.List.Sum)
	b = append(binary.BigEndian.AppendUint32(b, n), groups...)
	if err := dirfile.Replace(db.dir, residentName, withSum(b, 0)); err != nil {
		return fmt.Errorf("store: write %s: %w", residentName, err)
	}
	return nil
}

// readResidents returns the cells of Resident groups, by the id of the group, as far as the file
// has them for the present state of the table.
func (db *DB) readResidents() map[byte]map[string]uint64 {
	b, err := os.ReadFile(filepath.Join(db.dir, residentName))
	if err != nil {
		return nil // the groups are scanned
	}
	return parseResidents(b, db.mark.Group, db.mark.List.Sum)
}

func parseResidents(b []byte, group uint64, manifest uint32) map[byte]map[string]uint64 {
	r := &partReader{rest: b}
	if string(r.take(len(residentMagic))) != residentMagic || r.uint64() != group || r.uint32() != manifest {
		return nil
	}
	all := make(map[byte]map[string]uint64)
	for groups := r.uint32(); groups > 0 && !r.failed; groups-- {
		id, cells := byte(r.uint32()), make(map[string]uint64)
		for n := r.uint32(); n > 0 && !r.failed; n-- {
			ts := r.uint64()
			cells[string(r.take(int(r.uint32())))] = ts
		}
		all[id] = cells
	}
	if !r.endPart() || len(r.rest) > 0 {
		return nil
	}
	return all
}
