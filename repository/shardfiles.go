package repository

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/humanize"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

// open opens the files of a shard when this process has become the one that writes them, and
// makes them match the table (takeIndex).
func (s *indexShards) open(ctx context.Context, sh *indexShard) error {
	if err := sh.files.close(); err != nil { // left by an attempt that failed later
		return err
	}
	why, err := s.openFiles(ctx, sh)
	if err != nil {
		return err
	}
	if why == "" {
		return s.catchUp(ctx, sh)
	}
	s.repo.log.Info("shard is made from the store", zap.String("shard", ShardName(sh.number, len(s.list))), zap.String("why", why))
	if err := sh.files.close(); err != nil {
		return err
	}
	_, err = s.rebuild(ctx, sh, nil)
	return err
}

// openFiles opens the files of the shard. If all of them have to be made again, it says
// why.
func (s *indexShards) openFiles(ctx context.Context, sh *indexShard) (why string, err error) {
	if !index.Exists(sh.files.dir) {
		return "there are no files yet", nil
	}
	err = sh.files.open(ctx)
	if errors.Is(err, index.ErrOldFormat) {
		return "the files are of an older format", nil
	}
	if err != nil {
		return "", fmt.Errorf("open shard %s: %w", ShardName(sh.number, len(s.list)), err)
	}
	w := sh.files.own
	switch n := w.Opened().Documents; {
	case w.Succeeds() == sh.known:
	case n > 0:
		return "", fmt.Errorf("%w: %s holds %s that this shard did not write: move it away, or delete it", ErrOtherIndex, sh.files.dir, humanize.Count(n, "document"))
	default:
		return "the files are empty", nil
	}
	if w.NeedsRebuild() {
		return "the files were made by another version of this program, which reads texts in another way", nil
	}
	return "", nil
}

// catchUp exports to a shard what it lacks. Another process may have kept the shard since
// these files were last written, so all documents, ranks and times are compared.
func (s *indexShards) catchUp(ctx context.Context, sh *indexShard) error {
	w, r := sh.files.own, s.repo
	last, err := r.db.Now(ctx)
	if err != nil {
		return err
	}
	if w.Opened().Seq > last {
		s.repo.log.Warn("a shard is newer than the store and is rebuilt from it", zap.String("shard", ShardName(sh.number, len(s.list))))
		if err := sh.files.close(); err != nil {
			return err
		}
		_, err := s.rebuild(ctx, sh, nil)
		return err
	}
	tx, err := snapshot.Now(ctx, r.db)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	keys, err := s.differing(ctx, tx, sh)
	if err != nil {
		return err
	}
	if err := r.exportTo(ctx, w, tx, keys); err != nil {
		return fmt.Errorf("export to shard %s what it lacks: %w", ShardName(sh.number, len(s.list)), spaceError(err))
	}
	return w.CaughtUp(ctx, 0)
}

func (s *indexShards) differing(ctx context.Context, tx *txn.Txn, sh *indexShard) (keys []page.ContentKey, err error) {
	err = uncheckedView(ctx, sh.files.dir, func(v *index.View) error {
		keys, err = s.repo.differingIn(ctx, tx, sh.in, v, compared{ranks: true, times: true})
		return err
	})
	return keys, err
}

// rebuild makes the files of a shard again (Repository.Reindex).
func (s *indexShards) rebuild(ctx context.Context, sh *indexShard, told func(clusters int)) (documents int, err error) {
	next, err := index.OpenNext(ctx, sh.files.dir, sh.known, sh.files.opts)
	if err != nil {
		return 0, fmt.Errorf("begin new index files: %w", spaceError(err))
	}
	fill := func() error { return s.repo.exportAll(ctx, &sh.files, sh.in, told) }
	err = sh.files.replace(ctx, nextFiles{next}, fill, func() (bool, error) { return sh.files.install(ctx) })
	if err != nil {
		return 0, err
	}
	return sh.files.own.Opened().Documents, nil
}

// reindex rebuilds all shards: it rebuilds those that this process holds, and asks the
// holders of the others to rebuild them.
func (s *indexShards) reindex(ctx context.Context, told func(clusters int)) (res Reindexed, err error) {
	began, before := time.Now(), 0
	for i := range s.list {
		last := 0
		progress := func(n int) {
			if last = n; told != nil {
				told(before + n)
			}
		}
		n := 0
		mine, err := s.repo.byHolder(ctx, observers.LeaseShard(i), taskReindex, progress, &n)
		if err == nil && mine {
			n, err = s.reindexHeld(ctx, i, progress)
		}
		if err != nil {
			return res, fmt.Errorf("shard %s: %w", ShardName(i, len(s.list)), err)
		}
		before += last
		res.Documents += n
	}
	res.Seconds = time.Since(began).Seconds()
	return res, nil
}

// reindexHeld rebuilds a shard that this process holds, and does not leave the shard meanwhile. It
// waits while another shard is being rebuilt, for a command that began earlier.
// The error is notify.ErrNotHeld if the process has just left it.
func (s *indexShards) reindexHeld(ctx context.Context, i int, told func(clusters int)) (documents int, err error) {
	if err := s.repo.reindexing.Acquire(ctx, 1); err != nil {
		return 0, err
	}
	defer s.repo.reindexing.Release(1)
	if !s.repo.leases.Held(observers.LeaseShard(i)) {
		return 0, notify.ErrNotHeld
	}
	return s.rebuild(ctx, s.list[i], told)
}
