package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/webindexer/indexer/internal/osfile"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// A search of an index that is not index files does not open the store, so it would not notice that
// the setting index names the index of another store. The store has the ID of its index. A shared
// store can be asked for the ID at any time. A process that has a data directory notes the ID in a
// file there.

// otherIDFile is the name of that file.
const otherIDFile = "index.id"

// RecordedOtherID returns the ID of the index, other than index files, to which a shared store
// exports, or "" if there is none. It needs no oracle.
func RecordedOtherID(ctx context.Context, table store.Reader) (id string, err error) {
	err = txn.EachCommitted(ctx, table, schema.OtherIndexID, schema.AppRow, func(_ string, cell []byte) error {
		id = string(cell)
		return nil
	})
	return id, err
}

// NotedOtherID does what RecordedOtherID does, for the store in a data directory. If there is no
// store, known is false.
func NotedOtherID(dir string) (id string, known bool, err error) {
	if _, err := os.Stat(StoreDir(dir)); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	} else if err != nil {
		return "", false, fmt.Errorf("look for the store: %w", err)
	}
	b, err := os.ReadFile(filepath.Join(dir, otherIDFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, fmt.Errorf("read the identity of the index: %w", err)
	}
	return string(b), true, nil
}

// noteOtherID writes the file, unless it already has the ID.
func (r *Repository) noteOtherID(ctx context.Context, id string) error {
	if r.shared() || id == "" {
		return nil
	}
	path := filepath.Join(r.dir, otherIDFile)
	if b, err := os.ReadFile(path); err == nil && string(b) == id {
		return nil
	}
	err := osfile.Write(ctx, path, func(w io.Writer) error {
		_, err := io.WriteString(w, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("note the identity of the index: %w", err)
	}
	return nil
}
