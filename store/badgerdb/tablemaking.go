package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/memlog"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
)

// A compaction of Badger 4.9.6 that cannot make a table file is undone, and the table takes no more
// writes (listsync.go). It needs no broken disk for that: a directory that forbids new files is enough,
// or a moment without a free file descriptor. And where a compaction fails again and again, as in a
// directory that is gone, compactors try again at once, for ever. So it waits where that is possible.
//
// Badger has no hook there, but it logs a line just before, in the compaction's goroutine.
// So that is where a compaction waits until a file can be made in the directory, and
// until all the tables that it may have read are verified.
const (
	makingTable = "[%d] LOG Compact. Added"
	makingWait  = 250 * time.Millisecond
)

// tableGate holds compactions back while no file can be made, or tables are not verified.
type tableGate struct {
	place  *place
	verify *verifier
	log    Logger
	ctx    context.Context
	cancel context.CancelFunc
	probed func(error) // receives the result of each attempt; nil except in tests

	stuck chan struct{} // closed when a compaction waits for ever
	once  sync.Once
}

func newTableGate(dir string, verify *verifier, log Logger) *tableGate {
	g := &tableGate{place: &place{dir: badgerDir(dir)}, verify: verify, log: log, stuck: make(chan struct{})}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// wait returns when a file can be made. It never returns if a table is damaged, or once
// Close has given up: to continue would lose data, and the process is about to end.
func (g *tableGate) wait() {
	if !g.verify.sound() {
		g.once.Do(func() { close(g.stuck) })
		select {}
	}
	for told := false; ; told = true {
		err := g.place.probe()
		if g.probed != nil {
			g.probed(err)
		}
		if err == nil {
			return
		}
		if !told {
			g.log.Warnf("compaction waits until a file can be made: %v", err)
		}
		select {
		case <-time.After(makingWait):
		case <-g.ctx.Done():
			select {}
		}
	}
}

// place is Badger's directory. Badger opens its files by their paths, so if the directory was moved, and
// another one is in its place, Badger would write and remove files there.
type place struct {
	dir    string
	opened fs.FileInfo
}

// open makes the directory, if it is missing, and remembers which one it is.
func (p *place) open() (err error) {
	if err = os.MkdirAll(p.dir, 0o700); err == nil {
		p.opened, err = os.Stat(p.dir)
	}
	return err
}

// check returns the reason why the directory is not the one that was opened.
func (p *place) check() error {
	now, err := os.Stat(p.dir)
	if err == nil && !os.SameFile(p.opened, now) {
		err = fmt.Errorf("%s is not the directory that was opened: that one was moved", p.dir)
	}
	return err
}

// probeFiles are the names of the files that probe makes.
const probeFiles = "probe*" + dirfile.TempSuffix

// probe makes a file in the directory and removes it. A killed process leaves it to the next Open.
func (p *place) probe() error {
	if err := p.check(); err != nil {
		return err
	}
	f, err := os.CreateTemp(p.dir, probeFiles)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// closeWithin bounds how long Badger may take to write out what is in memory.
const closeWithin = 20 * time.Second

// closeOrLeave closes Badger. If Badger could not write out what is in memory, it would
// try that for ever, so closeOrLeave leaves it as it is, as a killed process would. What
// was acknowledged is then in its logs, and the process has to end before the table can
// be opened again.
func (db *DB) closeOrLeave() error {
	if err := db.closable(); err != nil {
		return db.leave(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- db.badger.Close() }() // ends with the process if it never returns
	late := time.NewTimer(closeWithin)
	defer late.Stop()
	for failures := db.failed.times.Load(); ; failures = db.failed.times.Load() {
		select {
		case err := <-closed:
			return err
		case <-db.tables.stuck: // on a damaged table
			db.tables.cancel()
			return db.verify.damage()
		case <-late.C:
			if err := db.closable(); err != nil {
				return db.leave(err)
			}
			if db.failed.times.Load() >= failures+failsMany && db.failed.hold() {
				return db.leave(db.failed.err())
			}
			late.Reset(closeWithin) // it is slow
		}
	}
}

// closable says why Badger could not write out what is in memory.
func (db *DB) closable() error {
	if err := db.tables.place.probe(); err != nil {
		return err
	}
	free, err := system.FreeBytes(db.dir)
	if err != nil {
		return nil // where the system does not tell, Badger finds out
	}
	if need := db.unflushed(); free < need {
		return fmt.Errorf("%w: %d MiB free, and %d MiB are to be written", store.ErrNoSpace, free>>20, need>>20)
	}
	return nil
}

// unflushed returns a bound of what Badger writes when it writes out what is in memory.
func (db *DB) unflushed() (n int64) {
	files, err := dirfile.Matching(badgerDir(db.dir), "*"+memlog.Suffix)
	if err != nil {
		return 0
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			n += system.Allocated(info)
		}
	}
	return n
}

// leave is the error of a table that is not closed.
func (db *DB) leave(why error) error {
	db.tables.cancel()
	if !errors.Is(why, store.ErrNoSpace) {
		why = fmt.Errorf("%w: %w", store.ErrUnwritable, why)
	}
	if _, err := os.Stat(badgerDir(db.dir)); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the directory and its contents were removed while it was open: %w", why)
	}
	return fmt.Errorf("data in memory cannot be written to table files; acknowledged writes are in the logs, and will be there when the directory is opened again: %w", why)
}
