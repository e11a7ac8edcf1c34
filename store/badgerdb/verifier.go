package badgerdb

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/y"
	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
	"github.com/webindexer/indexer/store/badgerdb/internal/tablefile"
)

// verifier ensures that no answer depends on a table file that was not
// verified. Badger does not ensure it: its iterators, and with them its Get, mistake
// a block that they cannot read for the end of the table, so damage looks like
// missing cells.
//
// The time to open a table must not grow with the store. So
//
//   - a file that the record lists (verified.go) is not read;
//   - other files, for example of a copied directory or from an earlier version, are
//     verified when the table is opened, if they have few bytes;
//   - if they have many bytes, Open checks only the parts that Badger reads while it
//     opens them, and a goroutine verifies them one after the other. A reader of a range
//     of keys first waits until the tables that may hold some of them are verified.
//
// Compaction reads tables, drops what it does not see, and removes the files. So no
// compaction writes a table before all tables are verified; the first one that is about
// to write verifies the remaining ones (tableGate).
//
// If a file is damaged, the reader that needed it gets the error. From then on every call
// fails with it, as Open would have. No earlier answer depended on the file, and
// nothing was compacted.
type verifier struct {
	dir     string
	log     Logger
	tables  []*unverified
	left    atomic.Int64 // how many of tables are not verified
	failure atomic.Pointer[error]

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	changed chan struct{} // holds an element after tables have changed

	mu    sync.Mutex
	known map[uint64]verifiedTable // what the record says, or will say
}

// unverified is a table file that has to be verified before it may be read.
type unverified struct {
	id          uint64
	compression options.CompressionType
	left, right []byte // the range of its keys, both inclusive; set before the first read
	once        sync.Once
	err         error
}

const (
	// verifyAtOnce is the number of bytes of unverified files that Open reads before it
	// returns. That takes a fraction of a second.
	verifyAtOnce = 64 << 20
	// recordEvery bounds how often the record is written while tables change.
	recordEvery = 10 * time.Second
)

func newVerifier(dir string, log Logger) *verifier {
	v := &verifier{dir: dir, log: log, changed: make(chan struct{}, 1), known: map[uint64]verifiedTable{}}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// open checks the table files of a directory before Badger opens them, and returns the
// greatest number of a group in them. Files of up to atOnce bytes together are verified.
func (v *verifier) open(m *manifest.List, atOnce int64) (greatest uint64, err error) {
	recorded, err := readVerified(v.dir)
	if err != nil {
		return 0, err
	}
	var size int64
	for id, compression := range m.Tables {
		now, err := identityOfTable(tablefile.Path(v.dir, id))
		if err != nil {
			return 0, err
		}
		if t, ok := recorded[id]; ok && t.Identity == now {
			v.known[id] = t
			greatest = max(greatest, t.group)
			continue
		}
		v.tables = append(v.tables, &unverified{id: id, compression: compression})
		size += now.Size
	}
	extent := tablefile.Extent(size <= atOnce)
	group, err := v.check(extent)
	if err != nil {
		return 0, err
	}
	if extent == tablefile.Whole {
		v.tables = nil
	} else {
		v.log.Infof("%d MiB of table files are verified while the table is open", size>>20)
	}
	v.left.Store(int64(len(v.tables)))
	return max(greatest, group), nil
}

// check checks all unverified tables, several at a time.
func (v *verifier) check(extent tablefile.Extent) (greatest uint64, err error) {
	var (
		files errgroup.Group
		mu    sync.Mutex
	)
	files.SetLimit(runtime.GOMAXPROCS(0))
	for _, t := range v.tables {
		files.Go(func() error {
			group, err := v.checkTable(t, extent)
			mu.Lock()
			defer mu.Unlock()
			greatest = max(greatest, group)
			return err
		})
	}
	return greatest, files.Wait()
}

// checkTable checks one table, and remembers it if it is verified. It reads the identity
// of the file before the contents: a file that changes in between does not match the
// record.
func (v *verifier) checkTable(t *unverified, extent tablefile.Extent) (group uint64, err error) {
	file := tablefile.Path(v.dir, t.id)
	id, err := identityOfTable(file)
	if err != nil {
		return 0, err
	}
	if group, err = tablefile.Check(file, t.compression, extent); err != nil || extent != tablefile.Whole {
		return group, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known[t.id] = verifiedTable{Identity: id, group: group}
	return group, nil
}

func identityOfTable(file string) (system.Identity, error) {
	id, err := system.Identify(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return id, errs.Corrupt(file, "the table file is missing")
	case err != nil:
		return id, errs.File(err)
	}
	return id, nil
}

// start begins to verify the remaining tables, and keeps the record. ranges are Badger's
// tables.
func (v *verifier) start(ranges []badger.TableInfo) {
	byID := map[uint64]badger.TableInfo{}
	for _, r := range ranges {
		byID[r.ID] = r
	}
	for _, t := range v.tables {
		t.left, t.right = y.ParseKey(byID[t.id].Left), y.ParseKey(byID[t.id].Right)
	}
	v.running.Go(v.run)
}

// run verifies, and then records the tables from time to time, so that after
// a kill only the tables of the last seconds have to be verified.
func (v *verifier) run() {
	for _, t := range v.tables {
		if v.ctx.Err() != nil || v.verify(t) != nil {
			return
		}
	}
	v.noteChange()
	for {
		select {
		case <-v.ctx.Done():
			return
		case <-v.changed:
		}
		if err := v.record(); err != nil {
			v.log.Warnf("the next opening may take longer: %v", err)
		}
		select {
		case <-v.ctx.Done():
			return
		case <-time.After(recordEvery):
		}
	}
}

// noteChange is called when tables may have been added or removed.
func (v *verifier) noteChange() {
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// verify verifies one table, unless that has been done.
func (v *verifier) verify(t *unverified) error {
	t.once.Do(func() {
		if _, t.err = v.checkTable(t, tablefile.Whole); t.err != nil {
			v.failure.CompareAndSwap(nil, &t.err)
			return
		}
		v.left.Add(-1)
	})
	return t.err
}

// needs is called before keys with a prefix are read. It returns when all tables that may
// have such keys are verified.
func (v *verifier) needs(prefix []byte) error {
	if v.left.Load() == 0 {
		return nil
	}
	for _, t := range v.tables {
		if bytes.Compare(prefix, t.right) > 0 || bytes.Compare(prefix, t.left) < 0 && !bytes.HasPrefix(t.left, prefix) {
			continue
		}
		if err := v.verify(t); err != nil {
			return err
		}
	}
	return nil
}

// needsAll returns when all tables are verified.
func (v *verifier) needsAll(ctx context.Context) error {
	if v.left.Load() == 0 {
		return nil
	}
	for _, t := range v.tables {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := v.verify(t); err != nil {
			return err
		}
	}
	return nil
}

// damage is the error of a damaged table file, nil if none is known.
func (v *verifier) damage() error {
	if err := v.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// sound verifies all remaining tables, and reports whether every table is intact. A compaction may
// ask before start.
func (v *verifier) sound() bool {
	return v.needsAll(context.Background()) == nil && v.damage() == nil
}

// Verify reads all table files and all long values, including those that were verified
// before, and compares checksums. The error matches store.ErrCorrupt and names the file.
func (db *DB) Verify(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.gate.Leave()
	return errors.Join(tablefile.CheckListed(ctx, db.dir), db.verifyBlobs(ctx))
}

// stop ends the goroutine.
func (v *verifier) stop() {
	v.cancel()
	v.running.Wait()
}

// record writes the record: all tables that the MANIFEST lists, except those that are not
// verified yet. This program wrote all tables that did not exist at the beginning.
func (v *verifier) record() error {
	m, err := manifest.Read(v.dir)
	if err != nil {
		return err
	}
	pending := map[uint64]bool{}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, t := range v.tables {
		pending[t.id] = true
	}
	now := map[uint64]verifiedTable{}
	for id, compression := range m.Tables {
		t, ok := v.known[id]
		if !ok {
			if pending[id] {
				continue
			}
			if t, err = newTable(tablefile.Path(v.dir, id), compression); errors.Is(err, fs.ErrNotExist) {
				continue // it was compacted meanwhile
			} else if err != nil {
				return err
			}
		}
		now[id] = t
	}
	v.known = now
	return writeVerified(v.dir, now)
}

// newTable is a table that this program wrote.
func newTable(file string, compression options.CompressionType) (t verifiedTable, err error) {
	if t.Identity, err = system.Identify(file); err != nil {
		return t, err
	}
	t.group, err = tablefile.Check(file, compression, tablefile.Ends)
	return t, err
}
