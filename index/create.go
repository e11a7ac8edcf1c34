package index

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/cksumvfs"
)

// create makes an empty index: it completes it under another name and then renames it. So a
// process killed here leaves either no index or a complete one, and the header of an index
// is never only in a log. The caller holds the writer's lock.
func create(ctx context.Context, path string) error {
	// Log files without their database would be replayed into the new one.
	if err := removeDatabase(path); err != nil {
		return fmt.Errorf("index: remove the log of a missing database: %w", err)
	}
	tmp := path + unfinished
	if err := createFile(ctx, tmp, ""); err != nil {
		return fmt.Errorf("index: create %s: %w", tmp, errors.Join(err, removeDatabase(tmp)))
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("index: create: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// createFile makes an empty index that succeeds another one. It first removes what a killed
// process left under this name: SQLite would replay a log without its database into the new
// one.
func createFile(ctx context.Context, path, succeeds string) (err error) {
	if err := removeDatabase(path); err != nil {
		return fmt.Errorf("remove the files of a killed process: %w", err)
	}
	// SQLite's log files get the mode of the database, which the umask restricts.
	if err := os.WriteFile(path, cksumvfs.Empty(applicationID, FormatVersion), 0o666); err != nil {
		return err
	}
	db, err := openDatabase(dsn(path, checked(nil), "synchronous(FULL)"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	var id [16]byte
	rand.Read(id[:]) // never fails (crypto/rand)
	if _, err := db.ExecContext(ctx, schemaSQL); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "INSERT INTO meta(key,value) VALUES(?,?),(?,?),(?,?),(?,?)",
		metaID, hex.EncodeToString(id[:]), metaAnalyzer, strconv.Itoa(analysis.Version), metaShards, "1", metaSucceeds, succeeds)
	return err
}

// syncDir makes a rename in dir durable. Systems that cannot sync a directory (Windows) do
// so by themselves.
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
