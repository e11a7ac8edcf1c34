package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	sqlite3 "modernc.org/sqlite/lib"
)

// querier is the common part of *sql.DB, *sql.Conn and *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Keys of the table meta.
const (
	metaID       = "id"       // 128 random bits in hex, made at creation
	metaAnalyzer = "analyzer" // analysis.Version with which all documents were analysed
	metaShards   = "shards"   // number of files; 1 so far
	metaSucceeds = "succeeds" // ID of the files that these replaced
)

// meta is what an index says about itself.
type meta struct {
	id       string
	analyzer int
	succeeds string // "" if none, or unknown
}

// checkFile reports whether the file at path can be opened as an index, without changing it
// or anything next to it. It opens the file as immutable and reads only the header, which
// never changes after creation (create.go).
//
// It uses SQLite, not os.Open: closing a file descriptor would drop the POSIX locks that
// other connections of this process hold on the file.
func checkFile(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		// The index has another name if the directory could not be listed (currentNumber).
		if _, err := os.ReadDir(filepath.Dir(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return ErrNoIndex
	}
	if err != nil {
		return err
	}
	foreign := func(why string) error {
		return fmt.Errorf("%s: %w (%s)", path, ErrForeign, why)
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return foreign("empty, or not a regular file")
	}
	app, format, err := header(ctx, headerDSN(path, true))
	if sqliteCode(err) == sqlite3.SQLITE_CORRUPT && exists(path+"-wal") {
		// A process that was killed while it moved its log into the database leaves a
		// header that mentions pages that are only in the log. Opened with the log, the
		// database is complete.
		app, format, err = header(ctx, headerDSN(path, false))
	}
	if err != nil {
		if c := sqliteCode(err); c == sqlite3.SQLITE_NOTADB || c == sqlite3.SQLITE_CORRUPT {
			return foreign("not an SQLite database")
		}
		return fmt.Errorf("%s: %w", path, openError(path, err))
	}
	if app != applicationID {
		return foreign("an SQLite database of another program")
	}
	if format > FormatVersion {
		return fmt.Errorf("%s: %w: format %d, this program knows %d: use the newer program", path, ErrNewerFormat, format, FormatVersion)
	}
	if format < 1 {
		return foreign("format version " + strconv.Itoa(format))
	}
	if err := oldFormat(format); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// header reads what kind of database the file claims to be.
func header(ctx context.Context, dsn string) (app, format int, err error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version").Scan(&app, &format)
	return app, format, err
}

func oldFormat(format int) error {
	if format < FormatVersion {
		return fmt.Errorf("%w: format %d, this program reads %d", ErrOldFormat, format, FormatVersion)
	}
	return nil
}

func readMeta(ctx context.Context, q querier) (meta, error) {
	var m meta
	var analyzer, shards string
	err := q.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE key=?), (SELECT value FROM meta WHERE key=?), (SELECT value FROM meta WHERE key=?), (SELECT value FROM meta WHERE key=?)`,
		metaID, metaAnalyzer, metaShards, metaSucceeds).Scan(&m.id, &analyzer, &shards, &m.succeeds)
	switch {
	case sqliteCode(err) != 0, err != nil && ctx.Err() != nil:
		return meta{}, fmt.Errorf("table meta: %w", err)
	case err != nil:
		return meta{}, fmt.Errorf("%w: table meta: %w", ErrCorrupt, err)
	}
	if m.analyzer, err = strconv.Atoi(analyzer); err != nil {
		return meta{}, fmt.Errorf("%w: analyzer version: %w", ErrCorrupt, err)
	}
	if shards != "1" {
		return meta{}, fmt.Errorf("%w: %s shards, this program reads 1", ErrNewerFormat, shards)
	}
	return m, nil
}
