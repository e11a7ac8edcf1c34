package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// OpenNext makes new, empty index files next to those in dir, under another name, for a
// rebuild. No process reads them until [Writer.Install] puts them in place, and a crash
// before that leaves nothing that counts. Succeeds is the ID of the files that they
// replace, or "": see [Writer.Succeeds].
//
// There is one such writer at a time. It does not take the writer's lock, because the
// current files may have a writer that keeps working.
func OpenNext(ctx context.Context, dir, succeeds string, opts WriterOptions) (*Writer, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	path := nextPath(dir)
	if err := createFile(ctx, path, succeeds); err != nil {
		return nil, fmt.Errorf("index: create %s: %w", path, errors.Join(err, removeDatabase(path)))
	}
	w := newWriter(dir, path)
	if err := w.open(ctx, opts); err != nil {
		return nil, fmt.Errorf("index %s: %w", dir, errors.Join(err, w.closeFiles(), removeDatabase(path)))
	}
	w.done.Go(w.run)
	return w, nil
}

func nextPath(dir string) string {
	return filepath.Join(dir, shardName(currentNumber(dir)+1)+unfinished)
}

// Discard closes a writer of OpenNext and removes its files.
func (w *Writer) Discard() error {
	err := w.Close()
	return errors.Join(err, removeDatabase(w.path))
}

// Install closes a writer of OpenNext and replaces the current files, whose writer must
// have been closed. The next [OpenWriter] opens the new files and removes the old ones.
//
// The rename is the decisive moment. A crash before it leaves the old files, and a crash after
// it leaves the new files; these are complete, because their log has been moved into them. The
// mark is then still that of the old files, and the new files know it (mark.go). A mark that
// they do not know, because it is damaged or of other files, is removed before the rename.
func (w *Writer) Install() error {
	if err := w.finish(); err != nil {
		return fmt.Errorf("index: install %s: %w", w.path, err)
	}
	if m, err := readMark(w.dir); err != nil || m != nil && m.id != w.meta.succeeds {
		if err := os.Remove(markPath(w.dir)); err != nil {
			return fmt.Errorf("index: install: %w", err)
		}
	}
	path := strings.TrimSuffix(w.path, unfinished)
	// Logs whose database was removed or set aside would be replayed into the new one.
	if err := removeLogs(path); err != nil {
		return fmt.Errorf("index: install: remove the log of a missing database: %w", err)
	}
	if err := os.Rename(w.path, path); err != nil {
		return fmt.Errorf("index: install: %w", err)
	}
	return syncDir(w.dir)
}

// finish moves the log into the database and closes it. Close would do both, but would not
// report that the disk was full.
func (w *Writer) finish() error {
	var err error
	w.closeOnce.Do(func() {
		close(w.closing)
		w.done.Wait()
		var busy, frames, moved int
		if _, err = w.tx.row("PRAGMA wal_checkpoint(TRUNCATE)", nil, &busy, &frames, &moved); err == nil && busy != 0 {
			err = errors.New("a process is reading it")
		}
		w.closeErr = w.closeFiles()
		err = errors.Join(err, w.closeErr)
	})
	return err
}
