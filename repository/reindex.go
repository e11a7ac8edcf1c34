package repository

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"indexer/index"
	"indexer/observers"
	"indexer/page"
	"indexer/repository/snapshot"
	"indexer/schema"
	"indexer/txn"
)

// Reindexed is what a rebuild of the index files did.
type Reindexed struct {
	Documents int     `json:"documents"`
	Seconds   float64 `json:"seconds"`
	// Aside is where files lie that stood in the place of ours and were not known to be of no use.
	Aside string `json:"aside,omitempty"`
}

// ErrReindexing: a rebuild of the index files is under way.
var ErrReindexing = errors.New("the index files are being rebuilt already")

// Reindex rebuilds the index files from the store, while queries are answered from the old ones and
// everything else goes on. After an error, or a crash, the old files are what they were,
// and it is to be run again. Told hears now and then how many clusters were exported.
//
// # Why the new files have everything
//
// From some moment on, observers write to the old and to the new files. Then the rebuild
// goes through all clusters, some at a time, while nobody else writes: it takes a
// snapshot, exports these clusters as of then, and lets the others write again.
//
// Let T be the timestamp of the snapshot in which cluster c was exported. A document of c that
// went to the old files alone went there before that moment, so it was computed at a snapshot
// before T, and what is exported at T is as fresh. What observers write later goes to both. Of two changes of
// one cluster the one with the higher timestamp holds, in either file, in whichever order they come
// (index/apply.go). A cluster that comes into being behind the rebuild's back was exported by an observer
// after the moment, or will be.
//
// A rank or a fetch time for a cluster that is not in the new files yet is lost to them. But nobody
// writes between the snapshot and the end of an export: such a rank was there before T, or comes
// when the document is there.
func (r *Repository) Reindex(ctx context.Context, told func(clusters int)) (Reindexed, error) {
	if !r.reindexing.TryLock() {
		return Reindexed{}, ErrReindexing
	}
	defer r.reindexing.Unlock()
	if done := r.rebuilt; done != nil { // by Open, just now
		r.rebuilt = nil
		return *done, nil
	}
	return r.rebuild(ctx, told)
}

// rebuild wants a repository of which only the pipeline may not have been started yet.
func (r *Repository) rebuild(ctx context.Context, told func(clusters int)) (res Reindexed, err error) {
	began := time.Now()
	known := r.wrote.id
	next, err := index.OpenNext(ctx, r.files.dir, known, r.files.opts)
	if err != nil {
		return res, fmt.Errorf("begin new index files: %w", spaceError(err))
	}
	r.files.begin(next)
	installed := false
	defer func() {
		if !installed {
			err = errors.Join(err, r.files.discard())
		}
	}()
	for from, n := "", 0; ; {
		var more int
		if from, more, err = r.exportSome(ctx, from); err != nil {
			return res, fmt.Errorf("export to new index files: %w", err)
		}
		n += more
		if told != nil {
			told(n)
		}
		if from == "" {
			break
		}
	}
	if known == "" { // else the new files are known by what they succeed
		if err := r.noteWritten(ctx, written{id: next.ID()}); err != nil {
			return res, err
		}
	}
	if r.replaceStranger {
		if res.Aside, err = index.SetAside(r.files.dir); err != nil {
			return res, err
		}
	}
	if installed, err = r.files.install(ctx); err != nil {
		return res, fmt.Errorf("put the new index files in place: %w", err)
	}
	r.replaceStranger = false
	files := r.files.current
	if err := r.noteWritten(ctx, written{files.ID(), files.Applied()}); err != nil {
		return res, err
	}
	res.Documents, res.Seconds = files.Opened().Documents, time.Since(began).Seconds()
	return res, nil
}

// exportClusters is how many clusters are exported while nobody else writes to the index files.
const exportClusters = 100

// exportSome exports some clusters to the new files, from a member row on, and says where to go on, "" at
// the end.
func (r *Repository) exportSome(ctx context.Context, from string) (next string, n int, err error) {
	err = r.files.fill(func(w *index.Writer) error {
		release := r.db.Hold()
		defer release()
		tx, err := snapshot.At(ctx, r.db, r.db.LastTimestamp()) // nobody writes from here on
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var keys []page.ContentKey
		if keys, next, err = clustersFrom(ctx, tx, from, exportClusters); err != nil {
			return err
		}
		n = len(keys)
		return r.exportTo(ctx, w, tx, keys)
	})
	return next, n, err
}

// clustersFrom lists up to n clusters from a member row on.
func clustersFrom(ctx context.Context, tx *txn.Txn, from string, n int) (keys []page.ContentKey, next string, err error) {
	err = tx.Scan(ctx, schema.GroupMember, from, "", func(row string, _ []txn.Version) error {
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

// exportTo exports clusters as of a snapshot, some at a time.
func (r *Repository) exportTo(ctx context.Context, w *index.Writer, tx *txn.Txn, keys []page.ContentKey) error {
	var taken atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), len(keys)) {
		g.Go(func() error {
			reader := snapshot.NewReader(r.db, tx)
			defer reader.Close()
			out := exportBatch{w: w}
			for i := taken.Add(1) - 1; i < int64(len(keys)); i = taken.Add(1) - 1 {
				change, err := observers.Export(ctx, reader.Document, keys[i])
				if err == nil {
					err = out.add(ctx, change)
				}
				if err != nil {
					return err
				}
			}
			return out.flush(ctx)
		})
	}
	return g.Wait()
}

// exportBatch gathers changes, up to a bound in memory.
type exportBatch struct {
	w       *index.Writer
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
