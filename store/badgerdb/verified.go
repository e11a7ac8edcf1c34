package badgerdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
)

// The file VERIFIED lists table files that need not be verified again. Badger never changes a
// table file after it has written it. So a file that was verified once, or that this
// program wrote, is good as long as it has not been changed. The file system tells
// whether it has: by size, times of modification and of change, and inode.
//
//	indexer verified tables
//	ID SIZE MODIFIED CHANGED INODE GROUP    a line for each table, in decimal
//	CHECKSUM                                CRC-32C of everything before it, in hexadecimal
//
// GROUP is the greatest number of a group in the table. Times are in nanoseconds.
//
// The record saves time and nothing else. If it is missing or damaged, or does not know
// a file, the file is verified. It is replaced by rename, without waiting for the disk:
// a table is on the disk before the MANIFEST lists it, and only listed tables are
// recorded.
//
// The record cannot detect a disk that returns other bytes than were written to it,
// because nothing changes in the file system. Verify reads all files regardless of the
// record, and Badger compares the checksum of each block that it reads.

const (
	verifiedName  = "VERIFIED"
	verifiedMagic = "indexer verified tables"
)

// verifiedTable is a table file that was verified.
type verifiedTable struct {
	system.Identity
	group uint64 // the greatest number of a group in it
}

// readVerified returns the tables that the record of a directory lists, none if the
// record is missing or damaged.
func readVerified(dir string) (map[uint64]verifiedTable, error) {
	text, err := os.ReadFile(filepath.Join(dir, verifiedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return parseVerified(string(text)), nil
}

func parseVerified(text string) map[uint64]verifiedTable {
	body, sum, ok := cutLastLine(text)
	if !ok || sum != sumText(body) {
		return nil
	}
	body, ok = strings.CutPrefix(body, verifiedMagic+"\n")
	if !ok {
		return nil
	}
	tables := map[uint64]verifiedTable{}
	for line := range strings.Lines(body) {
		var (
			id uint64
			t  verifiedTable
		)
		if _, err := fmt.Sscanf(line, "%d %d %d %d %d %d\n", &id, &t.Size, &t.Modified, &t.Changed, &t.Inode, &t.group); err != nil {
			return nil
		}
		tables[id] = t
	}
	return tables
}

// cutLastLine splits a text before its last line, which must end with a newline.
func cutLastLine(text string) (before, last string, ok bool) {
	text, ok = strings.CutSuffix(text, "\n")
	i := strings.LastIndexByte(text, '\n') + 1
	return text[:i], text[i:], ok
}

func formatVerified(tables map[uint64]verifiedTable) string {
	var b strings.Builder
	b.WriteString(verifiedMagic + "\n")
	for id, t := range tables {
		fmt.Fprintf(&b, "%d %d %d %d %d %d\n", id, t.Size, t.Modified, t.Changed, t.Inode, t.group)
	}
	return b.String() + sumText(b.String()) + "\n"
}

// writeVerified replaces the record. A damaged one costs time at the next opening, so
// nothing waits for the disk.
func writeVerified(dir string, tables map[uint64]verifiedTable) error {
	if err := dirfile.Replace(dir, verifiedName, []byte(formatVerified(tables))); err != nil {
		return fmt.Errorf("store: record verified tables: %w", err)
	}
	return nil
}
