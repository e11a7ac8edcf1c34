package index

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// create makes an empty index: complete in a temporary file, then renamed, so
// that a process killed here leaves either no index or a whole one, and the
// header of an index never waits in a write-ahead log. The caller holds the
// writer's lock; left-over temporary files are removed.
func create(ctx context.Context, dir string) error {
	old, err := filepath.Glob(filepath.Join(dir, shardFile+".new*"))
	if err != nil {
		return err
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return fmt.Errorf("index: left over from a start that was killed: %w", err)
		}
	}
	// Log files without their database would be replayed into the new one.
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(shardPath(dir) + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("index: log of a database that is gone: %w", err)
		}
	}
	tmp := shardPath(dir) + ".new"
	if err := createFile(ctx, tmp); err != nil {
		return fmt.Errorf("index: create %s: %w", tmp, err)
	}
	if err := os.Rename(tmp, shardPath(dir)); err != nil {
		return fmt.Errorf("index: create: %w", err)
	}
	return syncDir(dir)
}

func createFile(ctx context.Context, path string) (err error) {
	// SQLite would make a file that its group may not write, whatever the umask says. Its
	// log files get the mode of the database.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(path, nil, "synchronous(FULL)"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	var id [16]byte
	rand.Read(id[:]) // never fails (crypto/rand)
	steps := []string{
		"PRAGMA application_id=" + strconv.Itoa(applicationID),
		"PRAGMA user_version=" + strconv.Itoa(FormatVersion),
		schemaSQL,
	}
	for _, s := range steps {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, "INSERT INTO meta(key,value) VALUES(?,?),(?,?),(?,?)",
		metaID, hex.EncodeToString(id[:]), metaAnalyzer, strconv.Itoa(AnalyzerVersion), metaShards, "1")
	return err
}

// syncDir makes a rename in dir durable. Systems that cannot sync a directory
// (Windows) make it so by themselves.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !os.IsPermission(err) {
		return errors.Join(fmt.Errorf("index: sync %s: %w", dir, err), d.Close())
	}
	return d.Close()
}
