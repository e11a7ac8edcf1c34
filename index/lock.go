package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// writerLock is held for the life of a writer: an exclusive SQLite transaction on a
// separate, empty database. It uses SQLite's file locking, so it works wherever the index
// does, even within one process, and ends with the process.
type writerLock struct {
	db   *sql.DB
	conn *sql.Conn
}

const lockFile = "writer.lock"

func lockWriter(ctx context.Context, dir string) (*writerLock, error) {
	path := filepath.Join(dir, lockFile)
	db, err := sql.Open("sqlite", dsn(path, nil, "busy_timeout(0)"))
	if err != nil {
		return nil, fmt.Errorf("index: lock %s: %w", path, err)
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, "BEGIN EXCLUSIVE")
		if err == nil && denied(path, true) {
			err = fs.ErrPermission // a database that this process may only read is not locked exclusively
		}
		if err == nil {
			return &writerLock{db, conn}, nil
		}
		err = errors.Join(err, conn.Close())
	}
	if isBusy(err) {
		return nil, errors.Join(fmt.Errorf("index %s: %w: stop that process first, or let it do the work", dir, ErrLocked), db.Close())
	}
	if IsDamage(err) { // not of the index: a rebuild would not help
		return nil, errors.Join(fmt.Errorf("index: lock %s: %v: remove this file, which is empty in a sound index", path, err), db.Close())
	}
	return nil, errors.Join(fmt.Errorf("index: lock %s: %w", path, openError(path, err)), db.Close())
}

func (l *writerLock) release() error {
	return errors.Join(l.conn.Close(), l.db.Close()) // closing rolls back and unlocks
}

// sqliteCode returns the primary result code of an SQLite error, 0 for others.
func sqliteCode(err error) int { return extendedCode(err) & 0xFF }

func extendedCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

func isBusy(err error) bool { return sqliteCode(err) == sqlite3.SQLITE_BUSY }
