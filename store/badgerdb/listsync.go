package badgerdb

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	_ "unsafe" // for go:linkname

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
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
// record out of the file again and returns an error. Then Badger removes the new files and keeps the old
// ones, and so does the list. The table takes no more writes, because Badger keeps the record in memory,
// and would write it after some thousands of compactions.
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

	file *os.File // of the last sync; guarded, as end is, by Badger's lock of its list
	end  int64    // of the file after that; before it, of what was there when the table was opened

	mu   sync.Mutex
	made map[int]newTables // by compactor; each makes one compaction at a time
}

// newTables are the new tables of a compaction.
type newTables struct {
	files int
	keys  uint64
}

// guardList begins to guard a list of so many bytes, or one that is about to be made.
func guardList(dir string, bytes int64, failed func(error)) *listGuard {
	g := &listGuard{dir: dir, failed: failed, fsync: (*os.File).Sync, end: max(bytes, manifest.EmptyBytes), made: make(map[int]newTables)}
	listGuards.Store(badgerDir(dir), g)
	return g
}

func badgerDir(dir string) string { return filepath.Join(dir, dirfile.Badger) }

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
	list, err := manifest.ReadOpen(f)
	if err == nil {
		err = g.check(f, list)
	}
	if err == nil {
		err = g.fsync(f)
	}
	if err != nil {
		err = errors.Join(err, g.takeBack(f))
		g.failed(err)
		return err
	}
	g.file, g.end = f, list.Mark().Bytes
	return nil
}

// takeBack takes the last record out of the list, unless Badger has just begun a new file.
func (g *listGuard) takeBack(f *os.File) error {
	if g.file != nil && g.file != f {
		return nil
	}
	if err := f.Truncate(g.end); err != nil {
		return err
	}
	_, err := f.Seek(g.end, io.SeekStart)
	return errors.Join(err, f.Sync())
}

// check compares the last record, if it is of a compaction, with what the compaction has made.
func (g *listGuard) check(f *os.File, list *manifest.List) error {
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if at != list.Mark().Bytes {
		return fmt.Errorf("%s has a torn record at byte %d, of a write that failed", f.Name(), list.Mark().Bytes)
	}
	if !list.Last.Compacts {
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
