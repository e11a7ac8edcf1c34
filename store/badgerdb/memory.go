package badgerdb

import (
	"math/bits"

	"github.com/webindexer/indexer/store/badgerdb/internal/memlog"
)

// How the memory of a table is divided. On the heap are
//
//   - memtables, each in one block of about 1.3 times its size: the active one and one
//     that is being written out,
//   - meanwhile, the table that is made of the latter: 2.4 times its size, which Badger
//     would keep (builders.go),
//   - the cache of table blocks,
//   - the hints (internal/hints), which begin as few, and the newest timestamps
//     (internal/newest),
//   - the filter of what is there (known.go), 12 bits for each row and column,
//   - compactions, which build tables of a few MiB.
//
// Table files are mapped, and may take as much again of resident memory (mapped.go).

const (
	// defaultMemory is the memory of a table without an explicit limit.
	defaultMemory = 512 << 20

	leastMemTable    = 16 << 20
	mostMemTable     = memlog.MemTableMost
	arenaPerMemTable = 1.3 // see Badger's arenaSize
	levelZeroTotal   = 320 << 20
	leastLevelZero   = 5
	leastCells       = 1 << 16
	mostNewest       = 1 << 18
	hintBytes        = 48 // of a cell
	mostSoftGroup    = 4 << 20
	mostKnown        = 256 << 20
)

// sizes are the sizes of the parts of a table.
type sizes struct {
	memTable   int64
	blockCache int64
	cells      int   // of hints, at most
	newest     int   // cells of newest timestamps
	levelZero  int   // tables in level 0 that start a compaction: levelZeroTotal of memtables
	stall      int   // tables in level 0 at which writes wait for a compaction
	known      int   // bytes of the largest layer of the filter of what is there (known.go)
	mapped     int64 // of files in resident memory
	// hardGroup bounds one transaction by our count of it, which is above Badger's: Badger
	// keeps a transaction below 15 % of the memtable (checkAndSetOptions), and opOverhead
	// is more than it adds to an entry, and more than the 96 bytes by which it bounds
	// their number.
	hardGroup int
	// A group is closed once it has softGroup bytes. Larger groups gain nothing and delay
	// their first member.
	softGroup int
}

// sizesFor divides memory. logs is the memory that replaying the largest log of a
// memtable may take: the memtable must have room for it, even if an earlier process used
// a larger one.
func sizesFor(memory, logs int64) (s sizes) {
	if memory <= 0 {
		memory = defaultMemory
	}
	s.memTable = min(max(memory/8, leastMemTable, int64(float64(logs)/arenaPerMemTable)), mostMemTable)
	s.blockCache = max(memory/6, leastMemTable)
	s.mapped = max(memory, leastMapped)
	s.cells = 1 << (bits.Len64(uint64(max(leastCells, memory/12/hintBytes))) - 1)
	// Guards ask only what was written in the last moments. A larger table answers hardly
	// more of them, and is spread over more memory than the processor's caches have.
	s.newest = min(s.cells, mostNewest)
	s.known = min(int(memory/12), mostKnown)
	s.levelZero = max(leastLevelZero, int(levelZeroTotal/s.memTable))
	s.stall = 3 * s.levelZero
	s.hardGroup = int(s.memTable * 15 / 100 * 97 / 100)
	s.softGroup = min(mostSoftGroup, s.hardGroup*3/4)
	return s
}
