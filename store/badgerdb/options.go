package badgerdb

import (
	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"indexer/store"
)

// Options of Open. The zero value is what most programs want.
type Options struct {
	// SyncWrites syncs the log once per group of writes, before any of them is
	// acknowledged. Without it an acknowledged write survives a killed process;
	// with it, also a lost machine.
	SyncWrites bool
	// Logger gets what the engine has to say; nil for nothing.
	Logger Logger
	// MinFreeBytes is how much of the disk is left alone: with less free space
	// writes fail with store.ErrNoSpace, and nothing happens. 0 stands for
	// DefaultMinFreeBytes, a negative number switches the check off. It is not
	// only courtesy: see space.go.
	MinFreeBytes int64
	// BlockCacheBytes bounds the cache of table blocks; 0 stands for 64 MiB.
	BlockCacheBytes int64
	// NewestCells bounds the map of newest timestamps that answers most guards
	// (see newest.go), in cells; 0 stands for 1<<19, about 20 MiB.
	NewestCells int
	// HintCells bounds the table of where the newest versions are, which makes the
	// usual read one look-up (see hints.go), in cells; 0 stands for 1<<19, 24
	// MiB, and a negative number for none.
	HintCells int
	// VerifyAtOnce is how many bytes of table files Open verifies before it returns, of
	// those that are not known to be good from earlier. If there are more, they are
	// verified in the background, or when they are first read (see verifier.go). 0 stands
	// for 64 MiB; a negative number leaves everything to the background.
	VerifyAtOnce int64
	// Step is called at the failpoints of group commit (committer.go), from the
	// committer's goroutine. An error there is what a failed write is. For tests.
	Step func(step string) error
}

// DefaultMinFreeBytes leaves room for what is in memory to be written out.
const DefaultMinFreeBytes = 256 << 20

const (
	memTableBytes = 64 << 20
	// logValueBytes is the size from which on Badger keeps a value in its value log.
	// A table must not be opened with a greater one than it ever was: see ownValue.
	logValueBytes = 1 << 20
	// Badger keeps a transaction below 15 % of the memtable (checkAndSetOptions).
	badgerTxnBytes = memTableBytes * 15 / 100
	// hardGroupBytes bounds one transaction by our count of it, which is above
	// Badger's: opOverhead is more than Badger adds to an entry, and more than
	// the 96 bytes by which it bounds their number.
	hardGroupBytes = badgerTxnBytes * 97 / 100
	opOverhead     = 100
	// A group is closed once it has so many bytes or requests. Larger groups
	// gain nothing and delay their first member.
	softGroupBytes    = 4 << 20
	softGroupRequests = 1024
	// queueLength bounds the requests that wait for the committer; a caller
	// beyond it waits with its context.
	queueLength = 1024
)

// limits: a key doubles at worst by escaping and must stay below Badger's 65,000
// bytes: 2·(16 + 8) KiB + 13.
var limits = store.Limits{
	MaxRowBytes:    16 << 10,
	MaxColumnBytes: 8 << 10,
	MaxValueBytes:  8 << 20,
	MaxBatchBytes:  8<<20 + 64<<10,
}

func badgerOptions(dir string, o Options, log *badgerLog) badger.Options {
	cache := o.BlockCacheBytes
	if cache <= 0 {
		cache = 64 << 20
	}
	return badger.DefaultOptions(dir).
		WithLogger(log).
		WithSyncWrites(o.SyncWrites).
		WithDetectConflicts(false). // the committer is the only writer
		WithMetricsEnabled(false).  // Badger's metrics are global to the process
		WithMemTableSize(memTableBytes).
		WithNumMemtables(2). // with the active one: three of about 84 MiB at worst
		WithValueThreshold(logValueBytes).
		WithValueLogFileSize(32 << 20).
		WithVerifyValueChecksum(true).
		WithChecksumVerificationMode(options.OnBlockRead).
		WithBlockCacheSize(cache).
		WithCompression(options.Snappy).
		WithNumCompactors(2).
		WithCompactL0OnClose(false)
}

// BadgerOptions are the options that Open gives Badger, for a Badger of the
// caller's own: a baseline to measure the table against.
func BadgerOptions(dir string, o Options) badger.Options {
	return badgerOptions(dir, o, &badgerLog{to: o.Logger})
}
