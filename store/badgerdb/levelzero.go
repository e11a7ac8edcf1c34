package badgerdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/tablefile"
)

// mostLevelZero is how many small tables level 0 may have. Reading a cell looks into the filter of
// each.
const mostLevelZero = 20

// admitLevelZero makes small tables of level 0 count by their size, when the table is opened.
// Closing it writes a table to level 0, however little has changed. Compacting level 0 rewrites
// the whole next level, 256 MiB, because each table has keys from anywhere. If they counted by
// number, every fifth process that changes a page would do that: with 400,000 pages, that took
// 10 s of processor time.
func (s *sizes) admitLevelZero(dir string, list *manifest.List) error {
	count, bytes := 0, int64(0)
	for id, level := range list.Levels {
		if level > 0 {
			continue
		}
		count++
		if info, err := os.Stat(tablefile.Path(dir, id)); err == nil {
			bytes += info.Size()
		} else if !errors.Is(err, fs.ErrNotExist) { // one that was not written completely may be listed
			return fmt.Errorf("store: %w", err)
		}
	}
	more := levelZeroTables(s.levelZero, count, bytes, s.memTable) - s.levelZero
	s.levelZero += more
	s.stall += more
	return nil
}

// levelZeroTables returns how many tables in level 0 start a compaction. The level has count tables
// with that many bytes in all. If all tables were full, as many as usually would start one.
func levelZeroTables(usually, count int, bytes, memTable int64) int {
	full := int(bytes / memTable)
	return max(usually, min(count+max(usually-full, 0), mostLevelZero))
}
