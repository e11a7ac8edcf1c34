package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store/engines"
	"github.com/webindexer/indexer/web"
)

// searcher answers the queries of one command, or of a server for as long as it runs.
type searcher interface {
	web.Searcher
	// Ready returns an error if the index cannot be searched now.
	Ready(ctx context.Context) error
	io.Closer
}

// rebuildable is a searcher that knows whether its documents were analysed by another version
// of this program.
type rebuildable interface{ NeedsRebuild() bool }

// sqliteIndex is the setting index for index files in the data directory.
const sqliteIndex = "sqlite:"

// usesFiles reports whether the index is index files in the data directory.
func (a *app) usesFiles() bool { return a.cfg.Index == "" || a.cfg.Index == sqliteIndex }

// checkIndex checks the setting index.
func (a *app) checkIndex() error {
	if a.usesFiles() {
		return nil
	}
	_, _, err := a.indexServer()
	return err
}

// otherIndex opens the index that documents are exported to. If that is the index files, it
// returns nil. The caller calls closeIndex after the repository was closed.
func (a *app) otherIndex() (other repository.Index, closeIndex func() error, err error) {
	if a.usesFiles() {
		return nil, func() error { return nil }, nil
	}
	return a.serverIndex()
}

// openSearcher opens the index for a command. It may not need the store, but a mistake in that
// setting could make it search another index than the one that was meant.
func (a *app) openSearcher(ctx context.Context) (searcher, error) {
	if err := engines.Check(a.cfg.Store); err != nil {
		return nil, a.storeError(err)
	}
	switch {
	case a.usesFiles() && a.usesShards():
		return a.openShardSearch(ctx)
	case a.usesFiles():
		return a.openFiles(ctx)
	}
	return a.searchServer(ctx)
}

// openServing opens the index for a server: index files are opened again whenever they were
// replaced.
func (a *app) openServing(ctx context.Context) (searcher, error) {
	if a.usesFiles() && !a.usesShards() {
		return web.OpenIndexFiles(func() (*index.Reader, error) { return a.openFiles(ctx) }, a.log)
	}
	return a.openSearcher(ctx)
}

// openFiles opens the index files of the data directory.
func (a *app) openFiles(ctx context.Context) (*index.Reader, error) {
	if err := a.checkUndivided(ctx); err != nil {
		return nil, err
	}
	if _, err := os.Stat(repository.IndexDir(a.cfg.Data)); errors.Is(err, fs.ErrPermission) {
		return nil, denied(err) // SQLite only says that it cannot open the file
	}
	r, err := index.OpenReader(repository.IndexDir(a.cfg.Data))
	switch {
	case errors.Is(err, index.ErrNoIndex) && a.isShared():
		return nil, fmt.Errorf("%w: %s", errFilesElsewhere, a.cfg.Data)
	case errors.Is(err, index.ErrNoIndex), errors.Is(err, syscall.ENOTDIR):
		if err := checkDataDir(a.cfg.Data, false, ""); err != nil {
			return nil, err
		}
		if errors.Is(err, syscall.ENOTDIR) {
			return nil, fmt.Errorf("%w: %s", index.ErrNotDirectory, repository.IndexDir(a.cfg.Data))
		}
		return nil, fmt.Errorf("%w: %s", errNoIndexFiles, a.cfg.Data)
	case err != nil:
		return nil, fmt.Errorf("search in %s: %w", a.cfg.Data, denied(err))
	}
	if err := a.checkFilesOwner(ctx, r); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// suggestSearch is the end of the summary of a command that has loaded pages. On a shared
// store, the index files may be in the data directory of another process.
func (a *app) suggestSearch() string {
	if a.isShared() && a.usesFiles() && !a.usesShards() {
		if _, err := os.Stat(repository.IndexDir(a.cfg.Data)); err != nil {
			return "To search, run `indexer query WORDS` where the index files are: `indexer status` shows the directory (lease index).\n"
		}
	}
	return fmt.Sprintf("Try: indexer %squery WORDS\n", a.placeFlags())
}

// countDocuments counts the documents of the index, for the summary of a command that has
// loaded pages. Index files are asked; of any other index the store knows it.
func (a *app) countDocuments(ctx context.Context, repo *repository.Repository) (n int, err error) {
	if a.isShared() || !a.usesFiles() {
		return repo.Documents(ctx)
	}
	reader, err := index.OpenReader(repository.IndexDir(a.cfg.Data))
	if err != nil {
		return 0, fmt.Errorf("count the documents: %w", err)
	}
	n, err = reader.Count(ctx)
	return n, errors.Join(err, reader.Close())
}

// indexPlace says where the index is, for a summary.
func (a *app) indexPlace() string {
	if a.isShared() || !a.usesFiles() {
		return "The index"
	}
	return "The index in " + repository.IndexDir(a.cfg.Data)
}
