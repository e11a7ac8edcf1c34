package repository

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Reindexed says what a rebuild of the index files has done.
type Reindexed struct {
	Documents int     `json:"documents"`
	Seconds   float64 `json:"seconds"`
	// Aside is where a rebuild has moved files that were in the place of ours, because
	// they might be of use.
	Aside string `json:"aside,omitempty"`
}

// ErrReindexing means that a rebuild of the index files is under way. The text says what to do, because
// only the text reaches a process that asked the holder of a lease.
var ErrReindexing = errors.New("the index files are being rebuilt already; when that is done, run the same command again")

// Reindex rebuilds the index files from the store. Meanwhile queries read the old files and
// everything else continues. After an error or a crash the old files are unchanged, and
// Reindex must be run again. It calls told from time to time with the number of clusters
// exported.
//
// # Why the new files have everything
//
// From some moment M on, observers write to both the old and the new files. Then the rebuild
// goes through all clusters in steps. In each step it blocks other writers, takes a
// snapshot, exports some clusters as of that snapshot, and admits the writers again.
//
// Let T be the timestamp of the snapshot in which cluster c was exported. If a document
// of c was written only to the old files, that was before M. So it was computed at a
// snapshot before T, and the document exported at T is at least as new. Everything that
// observers write later goes to both files. If a cluster changes twice, the change with
// the higher timestamp wins in either file, in whichever order they arrive
// (index/apply.go). A cluster that appears where the rebuild has already passed was
// exported by an observer after M, or will be.
//
// The new files drop a rank or a fetch time for a cluster that they do not have yet. But
// there are no writes between the snapshot and the end of a step, so such a rank was in
// the store before T, or it arrives when the document exists.
//
// A document exported at T may show a choice that no run of index has made yet. If the choice then
// moves back, no run would export the cluster again, so the rebuild wakes index (exportTo).
//
// In a repository that several processes share, the process that keeps the index files rebuilds
// them. If no process keeps them, this process rebuilds them, unless it runs observers.
func (r *Repository) Reindex(ctx context.Context, told func(clusters int)) (res Reindexed, err error) {
	if r.shards != nil {
		return r.shards.reindex(ctx, told)
	}
	if mine, err := r.byHolder(ctx, observers.LeaseIndex, taskReindex, told, &res); err != nil || !mine {
		return res, err
	}
	return r.reindex(ctx, told)
}

// reindex does what Reindex does, in the process that keeps the index files. That may be the
// process that asked, if it has been given the lease meanwhile.
func (r *Repository) reindex(ctx context.Context, told func(clusters int)) (res Reindexed, err error) {
	if !r.reindexing.TryAcquire(1) {
		return Reindexed{}, ErrReindexing
	}
	defer r.reindexing.Release(1)
	if done := r.rebuilt; done != nil { // Open has just made it
		r.rebuilt = nil
		return *done, nil
	}
	return r.rebuild(ctx, told)
}

// rebuild rebuilds the index files. It requires an open repository, except that the
// pipeline need not have started.
func (r *Repository) rebuild(ctx context.Context, told func(clusters int)) (res Reindexed, err error) {
	if r.other != nil {
		return r.rebuildOther(ctx, told)
	}
	began := time.Now()
	known := r.wrote.id
	next, err := index.OpenNext(ctx, r.files.dir, known, r.files.opts)
	if err != nil {
		return res, fmt.Errorf("begin new index files: %w", spaceError(err))
	}
	fill := func() error { return r.exportAll(ctx, &r.files, keyRange{}, told) }
	err = r.files.replace(ctx, nextFiles{next}, fill, func() (installed bool, err error) {
		if known == "" { // otherwise the ID of the files that they replace identifies the new ones
			if err := r.noteWritten(ctx, written{id: next.ID()}); err != nil {
				return false, err
			}
		}
		if r.replaceStranger {
			if res.Aside, err = index.SetAside(r.files.dir); err != nil {
				return false, err
			}
		}
		return r.files.install(ctx)
	})
	if err != nil {
		return res, err
	}
	r.replaceStranger = false
	files := r.files.own
	res.Documents, res.Seconds = files.Opened().Documents, time.Since(began).Seconds()
	if r.shared() && known != "" {
		// Other workers have files of their own, which succeed the same files.
		return res, nil
	}
	return res, r.noteWritten(ctx, written{id: files.ID(), applied: files.Applied()})
}

// exportAll exports all clusters of a range to the new index, in steps.
func (r *Repository) exportAll(ctx context.Context, files *indexFiles, in keyRange, told func(clusters int)) error {
	for from, n := in.from, 0; ; {
		next, more, err := r.exportSome(ctx, files, from, in.to)
		if err != nil {
			return err
		}
		n += more
		if told != nil {
			told(n)
		}
		if from = next; from == "" {
			return nil
		}
	}
}

// exportClusters is how many clusters a step of a rebuild exports.
const exportClusters = 100

// exportSome makes one step of a rebuild: it exports some clusters to the new files,
// beginning at a member row, and returns the row for the next step, or "" at the end.
func (r *Repository) exportSome(ctx context.Context, files *indexFiles, from, to string) (next string, n int, err error) {
	err = files.fill(func(w observers.Sink) error {
		tx, err := snapshot.Now(ctx, r.db) // other writers are blocked
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var keys []page.ContentKey
		if keys, next, err = clustersFrom(ctx, tx, from, to, exportClusters); err != nil {
			return err
		}
		n = len(keys)
		return r.exportTo(ctx, w, tx, keys)
	})
	return next, n, err
}

// clustersFrom lists up to n clusters, beginning at a member row, and returns the row where
// the next one begins, or "".
func clustersFrom(ctx context.Context, tx *txn.Txn, from, to string, n int) (keys []page.ContentKey, next string, err error) {
	err = tx.Scan(ctx, schema.GroupMember, from, to, func(row string, _ []txn.Version) error {
		k, _, err := schema.ParseMemberRow(row)
		if err != nil {
			return err
		}
		if len(keys) > 0 && keys[len(keys)-1] == k {
			return nil
		}
		if len(keys) == n {
			next = row
			return txn.ErrStop
		}
		keys = append(keys, k)
		return nil
	})
	return keys, next, err
}

// exportBatch gathers changes up to a bound on memory.
type exportBatch struct {
	w       observers.Sink
	changes []index.Change
	bytes   int
}

const exportBatchBytes = 4 << 20

func (b *exportBatch) add(ctx context.Context, c index.Change) error {
	b.changes = append(b.changes, c)
	if c.Doc != nil {
		b.bytes += len(c.Doc.Text)
	}
	if b.bytes < exportBatchBytes {
		return nil
	}
	return b.flush(ctx)
}

func (b *exportBatch) flush(ctx context.Context) error {
	err := b.w.Apply(ctx, b.changes)
	b.changes, b.bytes = nil, 0
	return err
}
