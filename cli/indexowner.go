package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/opensearch"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/engines"
)

// checkOwner returns an error that matches repository.ErrOtherIndex if the index on a search server
// is not that of the store of the settings. A shared store that does not answer is not waited for:
// searches need only the index.
func (a *app) checkOwner(ctx context.Context, at opensearch.Address, id string) error {
	if !a.isShared() {
		own, known, err := repository.NotedOtherID(a.cfg.Data)
		switch {
		case err != nil:
			return denied(err)
		case known && own == "":
			return fmt.Errorf("%w, or no command has opened %s with %s yet: run one, such as `indexer stats`", repository.ErrOtherIndex, a.cfg.Data, at)
		case known && own != id:
			return fmt.Errorf("%w: %s does not have the documents of %s", repository.ErrOtherIndex, at, a.cfg.Data)
		}
		return nil
	}
	return a.askStore(ctx, func(ctx context.Context, table store.Reader) error {
		own, err := repository.RecordedOtherID(ctx, table)
		if err == nil && own != id {
			err = fmt.Errorf("%w: %s does not have the documents of %s", repository.ErrOtherIndex, at, engines.Redact(a.cfg.Store))
		}
		return err
	})
}

// askStore asks a shared store about an index that is to be searched. If the store does not answer
// within findWithin, the index is searched anyway.
func (a *app) askStore(ctx context.Context, question func(context.Context, store.Reader) error) error {
	bounded, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	table, err := a.openTable(bounded)
	if err == nil {
		err = errors.Join(question(bounded, table), table.Close())
	}
	if ctx.Err() == nil && (bounded.Err() != nil || errors.Is(err, store.ErrUnavailable)) {
		a.log.Warn("searches an index that may be that of another store, because the store does not answer", zap.Error(err))
		return nil
	}
	return err
}

// errLocalIndex says that index files belong to the store in their data directory, and not to the
// shared store of the settings.
var errLocalIndex = errors.New("this data directory has a store of its own, and the index files of that store")

// checkFilesOwner returns an error that matches errLocalIndex if the settings name a shared store, and
// the index files are those of a store in the data directory. Where there is no such store, they are
// those of a worker.
func (a *app) checkFilesOwner(ctx context.Context, r *index.Reader) error {
	if _, err := os.Stat(repository.StoreDir(a.cfg.Data)); err != nil || !a.isShared() {
		return nil
	}
	return a.askStore(ctx, func(ctx context.Context, table store.Reader) error {
		id, err := repository.RecordedFilesID(ctx, table)
		if err == nil && id != r.ID() {
			err = fmt.Errorf("%w: %s does not have the documents of %s", errLocalIndex, repository.IndexDir(a.cfg.Data), engines.Redact(a.cfg.Store))
		}
		return err
	})
}

// lookWithin bounds how long `indexer status` waits for a search server.
const lookWithin = 2 * time.Second

// findIndexProblem lists what is wrong with an index on a search server. A worker that meets it
// says so only in its log.
func (o *onlooker) findIndexProblem(ctx context.Context, s *state) error {
	if o.app.usesFiles() {
		return nil
	}
	own, err := repository.RecordedOtherID(ctx, o.parts.table)
	if err != nil {
		return err
	}
	at, options, err := o.app.indexServer()
	if err != nil {
		return err
	}
	options.RetryFor = lookWithin
	shard, err := opensearch.OpenShard(at, options)
	if err != nil {
		return authoritiesError(err)
	}
	defer func() { _ = shard.Close() }() // nothing was written
	bounded, cancel := context.WithTimeout(ctx, 2*lookWithin)
	defer cancel()
	have, err := shard.Prepare(bounded)
	switch {
	case errors.Is(err, index.ErrNoIndex) && own == "": // nothing was exported yet
	case errors.Is(err, index.ErrNoIndex):
		s.problem("the index at %s is gone: `indexer reindex` rebuilds it from the store", at)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		s.problem("the index cannot be searched or written: %v", err)
	case own != have.ID && (own != "" || have.State.Documents > 0):
		s.problem("the index at %s belongs to another store, so nothing is exported: correct the setting index, or run `indexer reindex`", at)
	}
	return nil
}
