package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/search"
)

// Reader searches the index. It can be open in any number of processes, with or without a
// writer. All methods are safe for concurrent use.
//
// Every method works in one SQLite read transaction, and so on one state of the index;
// [Reader.Snapshot] keeps such a state for several calls. A method fails with [ErrBehind]
// if something that was written is missing.
type Reader struct {
	dir, path  string
	db         *sql.DB
	statements map[string]*sql.Stmt // prepared, by text
	names      *search.Names
	anchors    *AnchorMatcher
	newest     newestCache
	meta       meta
	file       os.FileInfo // for Replaced
	unchecked  bool        // against the mark
	alone      bool        // without the memory that readers and writer share: it sees no later state

	completions completions
}

// readerConns bounds the searches that run at once and, with readerCacheKiB, their memory.
const readerConns = 4

// OpenReader opens the index in dir. Errors: [ErrNoIndex], [ErrForeign],
// [ErrNewerFormat], [ErrOldFormat], [ErrCorrupt].
func OpenReader(dir string) (*Reader, error) { return openAny(dir) }

// OpenUnchecked opens the index in dir even if it is behind its mark, for a caller that
// brings it up to date.
func OpenUnchecked(dir string) (*Reader, error) {
	r, err := openAny(dir)
	if err == nil {
		r.unchecked = true
	}
	return r, err
}

func openAny(dir string) (*Reader, error) {
	for {
		path := shardPath(dir)
		r, err := openFile(context.Background(), dir, path)
		if err != nil && shardPath(dir) != path {
			continue // it was just replaced
		}
		return r, err
	}
}

func openFile(ctx context.Context, dir, path string) (*Reader, error) {
	err := checkFile(ctx, path)
	if errors.Is(err, ErrNoIndex) {
		return nil, fmt.Errorf("%w in %s: run `indexer crawl SEEDS.txt` or `indexer replay FILE.warc.gz` first", ErrNoIndex, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	r, err := openReader(ctx, dir, path, false)
	if noSharedMemory(err) && logIsEmpty(path) {
		// In WAL mode, readers need a file that they share with the writer. A process
		// that may not write in the directory cannot create it, and no process can on a
		// full disk. If there is no log, the file would be empty. If a writer can create it
		// later, because there is room again or it is another user's, the reader does not see
		// what it writes; Replaced then says so.
		r, err = openReader(ctx, dir, path, true)
	}
	if err != nil {
		return nil, explain(dir, path, "open", err)
	}
	return r, nil
}

// noSharedMemory reports whether SQLite could not create the file that readers and writer
// share.
func noSharedMemory(err error) bool {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL:
		return true
	}
	switch extendedCode(err) {
	case sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMMAP:
		return true
	}
	return false
}

func logIsEmpty(path string) bool {
	info, err := os.Stat(path + "-wal")
	return errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0
}

func openReader(ctx context.Context, dir, path string, immutable bool) (*Reader, error) {
	file, err := os.Stat(path) // before the file is opened: whatever replaces it from now on is another file
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(readerDSN(path, immutable))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readerConns)
	db.SetMaxIdleConns(readerConns)
	m, err := readMeta(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	statements, err := prepareQueries(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Reader{dir: dir, path: path, db: db, statements: statements, names: search.NewNames(), anchors: NewAnchorMatcher(), meta: m, file: file, alone: immutable}, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// ID returns the identity of the files; see [Writer.ID].
func (r *Reader) ID() string { return r.meta.id }

// NeedsRebuild reports whether another version of this program had analysed the documents
// when the reader was opened. Searches may miss some of them.
func (r *Reader) NeedsRebuild() bool { return r.meta.analyzer != analysis.Version }

// Close releases the files. Close views first.
func (r *Reader) Close() error { return errors.Join(closeStatements(r.statements), r.db.Close()) }

// Ready returns an error if the index cannot be searched now.
func (r *Reader) Ready(ctx context.Context) error {
	v, err := r.Snapshot(ctx)
	if err != nil {
		return err
	}
	return v.Close()
}

// Documents is [View.Documents] on the newest state.
func (r *Reader) Documents(ctx context.Context, fn func(Document) error) error {
	_, err := inView(ctx, r, func(v *View) (struct{}, error) { return struct{}{}, v.Documents(ctx, fn) })
	return err
}

// Document is [View.Document] on the newest state.
func (r *Reader) Document(ctx context.Context, url string) (Document, bool, error) {
	type answer struct {
		d     Document
		found bool
	}
	a, err := inView(ctx, r, func(v *View) (a answer, err error) {
		a.d, a.found, err = v.Document(ctx, url)
		return a, err
	})
	return a.d, a.found, err
}

// Count returns the number of documents, as the writer has counted them: counting the rows of a
// large index takes longer than most queries. Check counts them.
func (r *Reader) Count(ctx context.Context) (int, error) {
	return inView(ctx, r, func(v *View) (int, error) { return v.state.Documents, nil })
}

// Check is [View.Check] on the newest state.
func (r *Reader) Check(ctx context.Context) error {
	_, err := inView(ctx, r, func(v *View) (struct{}, error) { return struct{}{}, v.Check(ctx) })
	return err
}

func inView[T any](ctx context.Context, r *Reader, do func(*View) (T, error)) (out T, err error) {
	v, err := r.Snapshot(ctx)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, v.Close()) }() // also if do panics
	return do(v)
}
