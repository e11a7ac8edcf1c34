package badgerdb

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/webindexer/indexer/internal/wire"
)

// The file RESIDENT has the cells of Resident groups as they were when the table was closed, so that
// opening it takes no scan. After a load, a scan of an empty group takes long: it steps over the
// tombstones of all cells that were ever in it, until they are compacted.
//
//	indexer resident cells 1
//	group [8]       the last group of writes, lowest byte first
//	manifest [4]    the checksum of the MANIFEST
//	for each locality group: its id [1], the number of cells (varint), and of each
//	                its timestamp [varint], the length of its key [varint], the key
//	checksum [4]    CRC-32C of everything before it
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
	b := binary.LittleEndian.AppendUint64([]byte(residentMagic), now.Group)
	b = binary.LittleEndian.AppendUint32(b, now.List.Sum)
	for i, set := range db.committer.residents {
		if set == nil || set.lost || len(set.cells) > residentCells {
			continue
		}
		b = append(b, db.groups[i].id)
		b = binary.AppendUvarint(b, uint64(len(set.cells)))
		for key, ts := range set.cells {
			b = binary.AppendUvarint(b, ts)
			b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
		}
	}
	if err := replace(db.dir, residentName, withChecksum(b)); err != nil {
		return fmt.Errorf("store: write %s: %w", residentName, err)
	}
	return nil
}

func withChecksum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
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
	body := b[:max(0, len(b)-crc32.Size)]
	if len(b) < crc32.Size || crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[len(body):]) {
		return nil
	}
	d := wire.NewDecoder(body)
	if string(d.Take(uint64(len(residentMagic)))) != residentMagic {
		return nil
	}
	if at := d.Take(12); at == nil || binary.LittleEndian.Uint64(at) != group || binary.LittleEndian.Uint32(at[8:]) != manifest {
		return nil
	}
	all := make(map[byte]map[string]uint64)
	for len(d.Rest()) > 0 {
		id, cells := d.Byte(), make(map[string]uint64)
		for n := d.Uint(); n > 0 && !d.Failed(); n-- {
			ts := d.Uint()
			cells[d.Text()] = ts
		}
		all[id] = cells
	}
	if d.Failed() {
		return nil
	}
	return all
}
