package badgerdb

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	_ "unsafe" // for go:linkname

	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/tablefile"
)

// Badger adds a record to the list of its tables, the MANIFEST, and syncs the file; only then it
// removes files. Badger 4.9.6 loses data if something fails before that, even if it fails only once:
//
//   - If a compaction cannot write one of its new table files, it drops the error (subcompact:
//     "defer inflightBuilders.Done(err)" takes err before it is set), and replaces the old tables by
//     those of the new ones that exist.
//   - If the sync fails, Badger removes the new table files and keeps the old ones. But the record is
//     in the file. The next process would not find the new files, and would remove the old ones.
//   - If writing a record stops in the middle, Badger writes the next one after that part, where no
//     process would read it.
//
// So this package makes the sync. It compares the record of a compaction with what the compaction has
// logged about its new tables. If one is missing, or a record is torn, or the sync fails, it takes the
// record out of the file again and returns an error. (After 10,000 deletions, Badger rewrites the file
// instead of adding a record. Then this package adds one that undoes the change.) Badger removes the new
// files and keeps the old ones, and so does the list. The table takes no more writes, because Badger
// keeps the record in memory, and would write it after some thousands of compactions.
//
// badgerSync is a variable of Badger, in which its own tests put another function. A version of Badger
// without it cannot be linked.
//
//go:linkname badgerSync github.com/dgraph-io/badger/v4.syncFunc
var badgerSync func(*os.File) error

func init() { badgerSync = syncList }

// listGuards are those of the open tables, by Badger's directory.
var listGuards sync.Map // of *listGuard

func syncList(f *os.File) error {
	if g, ok := listGuards.Load(filepath.Dir(f.Name())); ok {
		return g.(*listGuard).sync(f)
	}
	return f.Sync() // of a Badger that this package has not opened
}

// listGuard syncs the list of a table.
type listGuard struct {
	dir    string               // of the table
	failed func(error)          // receives the reason why a record was taken back
	fsync  func(*os.File) error // (*os.File).Sync except in tests

	list *manifest.List // at the last sync or, before it, when the table was opened; guarded by Badger's lock of its list

	mu   sync.Mutex
	made map[int]newTables // by compactor; each makes one compaction at a time
}

// newTables are the new tables of a compaction.
type newTables struct {
	files int
	keys  uint64
}

// guardList begins to guard a list, or if that is empty, one that is about to be made.
func guardList(dir string, list *manifest.List, failed func(error)) *listGuard {
	if list.Empty() {
		list = manifest.New()
	}
	g := &listGuard{dir: dir, failed: failed, fsync: (*os.File).Sync, list: list, made: make(map[int]newTables)}
	listGuards.Store(badgerDir(dir), g)
	return g
}

// making is called before a compaction makes a table file with some keys. With none, it makes no file.
func (g *listGuard) making(compactor int, keys uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.made[compactor]
	if keys > 0 {
		n.files++
	}
	n.keys += keys
	g.made[compactor] = n
}

// ended is called after a compaction.
func (g *listGuard) ended(compactor int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.made, compactor)
}

// sync syncs the list of tables, if its last record is complete.
func (g *listGuard) sync(f *os.File) error {
	next, rewritten, err := g.list.Next(f)
	if err == nil {
		err = g.check(f, next)
	}
	if err == nil {
		err = g.fsync(f)
	}
	if err == nil {
		g.list = next
		return nil
	}
	switch {
	case !rewritten:
		err = errors.Join(err, g.takeBack(f))
	case next != nil:
		err = errors.Join(err, g.undo(f, next))
	}
	g.failed(err)
	return err
}

// takeBack takes the last record out of the list.
func (g *listGuard) takeBack(f *os.File) error {
	if err := f.Truncate(g.list.Bytes()); err != nil {
		return err
	}
	_, err := f.Seek(g.list.Bytes(), io.SeekStart)
	return errors.Join(err, f.Sync())
}

// undo adds a record to a list that Badger has rewritten, which makes of it what it was before.
func (g *listGuard) undo(f *os.File, rewritten *manifest.List) error {
	record, err := rewritten.Undo(g.list)
	if err == nil {
		_, err = f.Write(record)
	}
	return errors.Join(err, f.Sync())
}

// check compares the last record, if it removes tables, as that of a compaction does, with what the compaction has made.
func (g *listGuard) check(f *os.File, list *manifest.List) error {
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if at != list.Bytes() {
		return fmt.Errorf("%s has a torn record at byte %d, of a write that failed", f.Name(), list.Bytes())
	}
	if len(list.Last.Removed) == 0 {
		return nil
	}
	var listed newTables
	for _, id := range list.Last.Added {
		keys, err := tablefile.Keys(tablefile.Path(g.dir, id))
		if err != nil {
			return err
		}
		listed.files++
		listed.keys += keys
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var same []int
	for compactor, made := range g.made {
		if made == listed {
			same = append(same, compactor)
		}
	}
	if len(same) == 1 { // of several, the one that is listed will say that it has ended; in DropPrefix, none says it
		delete(g.made, same[0])
	}
	if len(same) > 0 || listed.files == 0 && len(g.made) == 0 { // none, if the old tables had only keys that are dropped
		return nil
	}
	return errors.New("a compaction could not write all of its table files")
}
