package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// catchUp exports to the index files what they lack.
//
// An export first writes a document to the index files and then index:doc to the store. So
// the files once had everything that index:doc says. They have less if their log was lost
// or damaged, or if an older copy of them was restored (index/mark.go). They have more if a
// process was killed between the two writes. Then there is a notification, and the document
// is exported again. Both sides keep a sum over all documents that does not depend on their
// order. If the sums agree (indexsum.go), and the files are neither behind their mark nor
// behind the count that was recorded when the repository was last closed, nothing is missing.
//
// Until the files have caught up, they stay behind their mark, so readers refuse them. After
// a crash here, the next Open begins again.
func (r *Repository) catchUp(ctx context.Context) error {
	w := r.files.own
	last, err := r.db.Now(ctx)
	if err != nil {
		return err
	}
	if w.Opened().Seq > last {
		// No change in this store would ever count as newer than the content of the files.
		r.repaired.Store(new("the index files are newer than the store"))
		r.log.Warn("the index files are newer than the store and are rebuilt from it")
		if err := r.files.close(); err != nil {
			return err
		}
		_, err := r.rebuild(ctx, nil)
		return err
	}
	tx, err := snapshot.Now(ctx, r.db)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	opened := w.Opened()
	why := w.Behind()
	if why == nil && w.ID() == r.wrote.id && opened.Applied < r.wrote.applied {
		why = fmt.Errorf("%w: %d of %d transactions are there", index.ErrBehind, opened.Applied, r.wrote.applied)
	}
	if why == nil && (r.shared() || r.wrote.elsewhere) {
		why = errOtherWriter
	}
	same := false
	if why == nil {
		if same, err = r.agrees(ctx, tx, opened, r.ownFiles(ctx)); err != nil {
			return fmt.Errorf("compare the index files with the store: %w", err)
		}
	}
	if !same {
		if err := r.exportMissing(ctx, tx, why); err != nil {
			return fmt.Errorf("export to the index files what they lack: %w", spaceError(err))
		}
	}
	if r.shared() { // the ID in the table is that of the first files, which all others succeed
		return nil
	}
	if w.ID() != r.wrote.id {
		return r.noteWritten(ctx, written{id: w.ID(), applied: w.Applied()})
	}
	return r.noteWritten(ctx, written{id: w.ID(), applied: r.wrote.applied})
}

// storedState returns what the index files should hold according to the store.
func storedState(ctx context.Context, tx *txn.Txn) (s index.State, err error) {
	err = eachIndexed(ctx, tx, keyRange{}, func(key page.ContentKey, d *schema.StoredIndexed) error {
		s.Documents++
		s.Sum.Add(key, d.Sum)
		return nil
	})
	return s, err
}

func eachIndexed(ctx context.Context, tx *txn.Txn, in keyRange, fn func(page.ContentKey, *schema.StoredIndexed) error) error {
	return tx.Scan(ctx, schema.GroupIndex, in.from, in.to, func(row string, cols []txn.Version) error {
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		d, err := schema.DecodeIndexed(cols[0].Data)
		if err != nil {
			return err
		}
		return fn(key, &d)
	})
}

func (r *Repository) exportMissing(ctx context.Context, tx *txn.Txn, why error) error {
	w := r.files.own
	keys, err := r.differingNow(ctx, tx, why != nil)
	if err != nil {
		return err
	}
	lost, err := r.withoutNotification(ctx, keys, false)
	if len(lost) > 0 && why == nil { // ranks and times may also be lost
		why = fmt.Errorf("%w: %d documents differ from what the store has exported", index.ErrBehind, len(lost))
		keys, err = r.differingNow(ctx, tx, true)
	}
	if err != nil {
		return err
	}
	if err := r.exportTo(ctx, w, tx, keys); err != nil {
		return err
	}
	if why != nil {
		if err := w.CaughtUp(ctx, r.wrote.applied); err != nil {
			return err
		}
		if errors.Is(why, errOtherWriter) {
			r.log.Info("the index files were older than the store, and have caught up", zap.Int("documents", len(keys)))
		} else {
			r.repaired.Store(new("the index files had lost their last writes"))
			r.log.Warn("the index files had lost their last writes, which were exported again", zap.Int("documents", len(keys)), zap.Error(why))
		}
	}
	return nil
}

// differingNow calls differing with the newest state of the index files. If something was
// lost, they may also lack ranks and times, which the sums do not cover.
func (r *Repository) differingNow(ctx context.Context, tx *txn.Txn, lost bool) (keys []page.ContentKey, err error) {
	err = uncheckedView(ctx, r.files.dir, func(v *index.View) error {
		keys, err = r.differing(ctx, tx, v, compared{ranks: lost, times: lost})
		return err
	})
	return keys, err
}

// compared says what is compared besides the contents of documents. With the times, pictures are compared.
type compared struct{ ranks, times bool }

// differing lists the clusters whose document in the index files differs from that in index:doc.
func (r *Repository) differing(ctx context.Context, tx *txn.Txn, view IndexView, what compared) (keys []page.ContentKey, err error) {
	v, divided := view.(*shardsView)
	if !divided {
		return r.differingIn(ctx, tx, keyRange{}, view, what)
	}
	for _, p := range v.parts {
		more, err := r.differingIn(ctx, tx, p.in, p, what)
		if err != nil {
			return nil, err
		}
		keys = append(keys, more...)
	}
	return keys, nil
}

// differingIn does what differing does, for the clusters of a range.
func (r *Repository) differingIn(ctx context.Context, tx *txn.Txn, in keyRange, view IndexView, what compared) (keys []page.ContentKey, err error) {
	pictures := what.times && KeepsThumbnails(view)
	next, stop := iter.Pull2(view.Entries(ctx))
	defer stop()
	entry, err, more := next()
	reader := snapshot.NewReader(r.db, tx)
	defer reader.Close()
	// Both are sorted by cluster.
	step := func(key page.ContentKey, d *schema.StoredIndexed) error {
		for ; err == nil && more && bytes.Compare(entry.Cluster[:], key[:]) < 0; entry, err, more = next() {
			keys = append(keys, entry.Cluster)
		}
		if err != nil {
			return err
		}
		if !more || entry.Cluster != key {
			keys = append(keys, key)
			return nil
		}
		same := entry.Digest == d.Sum && (!what.ranks || entry.Rank == d.Rank)
		if same && what.times {
			at, err := observers.FetchedAt(ctx, reader.Document(), d.URL)
			if err != nil {
				return err
			}
			same = entry.FetchedAt.Equal(at)
		}
		if same && pictures {
			image, err := observers.ThumbnailOf(ctx, reader.Document(), d.URL)
			if err != nil {
				return err
			}
			same = entry.Thumbnail == index.SumThumbnail(image)
		}
		if !same {
			keys = append(keys, key)
		}
		entry, err, more = next()
		return err
	}
	if err := eachIndexed(ctx, tx, in, step); err != nil {
		return nil, err
	}
	for ; err == nil && more; entry, err, more = next() {
		keys = append(keys, entry.Cluster)
	}
	return keys, err
}

// withoutNotification returns the clusters on which no observer is going to run, nor on one of
// their members if members is set. A run on a member changes the rank of the cluster.
func (r *Repository) withoutNotification(ctx context.Context, keys []page.ContentKey, members bool) ([]page.ContentKey, error) {
	rows := make(map[string]bool, len(keys))
	for _, k := range keys {
		rows[schema.ClusterRow(k)] = true
	}
	err := r.db.EachNotification(ctx, func(notes []txn.Notification) error {
		for _, n := range notes {
			row := n.Cell.Row
			if members {
				row, _ = schema.SplitMemberRow(row)
			}
			delete(rows, row)
		}
		if len(rows) == 0 {
			return txn.ErrStop
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(keys), func(k page.ContentKey) bool { return !rows[schema.ClusterRow(k)] }), nil
}
