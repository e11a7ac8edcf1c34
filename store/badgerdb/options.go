package badgerdb

import (
	"cmp"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/webindexer/indexer/store"
)

// Options of Open. The zero value is what most programs want.
type Options struct {
	// SyncWrites syncs the log once per group of writes, before any of them is
	// acknowledged. Without it an acknowledged write survives the death of the
	// process; with it, also a crash of the machine.
	SyncWrites bool
	// Logger receives the engine's messages; nil drops them.
	Logger Logger
	// MinFreeBytes is how much of the disk must stay free: with less free space, writes
	// fail with store.ErrNoSpace and have no effect. 0 means DefaultMinFreeBytes; a
	// negative number disables the check. The table depends on it: see space.go.
	MinFreeBytes int64
	// MemoryBytes is about how much of the heap the table may take (see memory.go); 0
	// means 512 MiB.
	MemoryBytes int64
	// BlockCacheBytes bounds the cache of table blocks; 0 means a sixth of MemoryBytes.
	BlockCacheBytes int64
	// NewestCells is the capacity in cells of the table of newest timestamps, which
	// answers most guards (see internal/newest). A cell takes 32 to 64 bytes. 0 means a share of
	// MemoryBytes, at most 262,144 cells.
	NewestCells int
	// HintCells bounds the table that tells where the newest versions are, in cells of
	// 48 bytes. With it, most reads take one look-up (see internal/hints). The table grows
	// with its contents. 0 means a share of MemoryBytes; a negative number means no
	// table.
	HintCells int
	// VerifyAtOnce is how many bytes of table files Open verifies before it returns, of
	// those that are not known to be good from earlier. If there are more, they are
	// verified in the background, or when they are first read (see verifier.go). 0 means
	// 64 MiB; with a negative number, all are verified in the background.
	VerifyAtOnce int64
	// Values of versioned groups that have at least BlobBytes are kept in blob files
	// (blobs.go); 0 means 1 KiB. It may differ from one opening to the next.
	BlobBytes int
	// Step is called at the failpoints of group commit (committer.go), from the
	// committer's goroutine. An error there has the effect of a failed write. For
	// tests.
	Step func(step string) error
}

// DefaultMinFreeBytes leaves room for what is in memory to be written out.
const DefaultMinFreeBytes = 256 << 20

const (
	// logValueBytes is the smallest value that Badger keeps in its value log. A
	// table must not be opened with a greater value than ever before: see ownValue.
	logValueBytes = 1 << 20
	// opOverhead is what an operation counts in addition to its key and value.
	opOverhead = 100
	// softGroupRequests closes a group, as sizes.softGroup does.
	softGroupRequests = 1024
	// baseLevelBytes is the size of the level into which level 0 is compacted. With Badger's
	// 10 MiB there would be one more level, and everything would be written once more.
	baseLevelBytes = 256 << 20
	// queueLength bounds the requests that wait for the committer; a caller
	// beyond it waits with its context.
	queueLength = 1024
)

// limits: escaping at worst doubles a key, which must stay below Badger's 65,000
// bytes: 2·(16 + 8) KiB + 13.
var limits = store.Limits{
	MaxRowBytes:    16 << 10,
	MaxColumnBytes: 8 << 10,
	MaxValueBytes:  8 << 20,
	MaxBatchBytes:  8<<20 + 64<<10,
	MaxTS:          store.MaxTS,
}

func badgerOptions(dir string, o Options, s sizes, log *badgerLog) badger.Options {
	return badger.DefaultOptions(dir).
		WithLogger(log).
		WithSyncWrites(o.SyncWrites).
		WithDetectConflicts(false). // the committer is the only writer
		WithMetricsEnabled(false).  // Badger's metrics are global to the process
		WithMemTableSize(s.memTable).
		WithNumMemtables(1). // in addition to the active one
		WithNumLevelZeroTables(s.levelZero).
		WithNumLevelZeroTablesStall(s.stall).
		WithBaseLevelSize(baseLevelBytes).
		WithValueThreshold(logValueBytes).
		WithValueLogFileSize(32 << 20).
		WithVerifyValueChecksum(true).
		WithChecksumVerificationMode(options.OnBlockRead).
		WithBlockCacheSize(cmp.Or(o.BlockCacheBytes, s.blockCache)).
		WithCompression(options.Snappy).
		WithNumCompactors(2).
		WithCompactL0OnClose(false)
}

// BadgerOptions returns the options that Open gives Badger. With them, a caller
// can open a Badger of its own as a baseline to measure the table against.
func BadgerOptions(dir string, o Options) badger.Options {
	return badgerOptions(dir, o, sizesFor(o.MemoryBytes, 0), &badgerLog{to: loggerOf(o.Logger)})
}
