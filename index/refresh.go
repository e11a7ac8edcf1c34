package index

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Touch renews fetch times that are later than the stored ones. It returns the touches for
// which there is no document. It writes one small row per document and no text.
func (w *Writer) Touch(ctx context.Context, touches []Touch) (missing []Touch, err error) {
	for _, u := range touches {
		if !validTime(u.FetchedAt) {
			return nil, fmt.Errorf("index %s: %w: %s: fetch time %v", w.dir, ErrInvalid, u.URL, u.FetchedAt)
		}
	}
	for batch := range slices.Chunk(touches, refreshBatch) {
		var none []Touch // of this batch; after an error, the writer may still be appending to it
		err := w.submit(ctx, len(batch), func(t *tables) error {
			none = nil // a group that fails is run again
			for _, u := range batch {
				found, err := t.touch(u)
				if err != nil {
					return fmt.Errorf("touch %s: %w", u.URL, err)
				}
				if !found {
					none = append(none, u)
				}
			}
			return nil
		})
		if err != nil {
			return missing, err
		}
		missing = append(missing, none...)
	}
	return missing, nil
}

// touch renews the time of a document, and reports whether the document exists.
func (t *tables) touch(u Touch) (found bool, err error) {
	var id int64
	if found, err = t.row("SELECT id FROM docs WHERE cluster=? AND url=?", []any{u.Cluster[:], string(u.URL)}, &id); err != nil || !found {
		return false, err
	}
	ns := packTime(u.FetchedAt)
	return true, t.exec("UPDATE times SET fetched=? WHERE id=? AND fetched<?", ns, id, ns)
}

// SetRanks renews ranks whose Seq is above that of the stored rank. A cluster without a
// document is ignored. It writes one small row per cluster and no text.
func (w *Writer) SetRanks(ctx context.Context, ranks []RankUpdate) error {
	for _, r := range ranks {
		if !validRank(r.Rank) || r.Seq > math.MaxInt64 {
			return fmt.Errorf("index %s: %w: cluster %x: rank %v at seq %d", w.dir, ErrInvalid, r.Cluster[:8], r.Rank, r.Seq)
		}
	}
	for batch := range slices.Chunk(ranks, refreshBatch) {
		err := w.submit(ctx, len(batch)/10+1, func(t *tables) error {
			for _, r := range batch {
				t.state.Seq = max(t.state.Seq, r.Seq)
				err := t.exec("UPDATE ranks SET rank=?, seq=? WHERE id=(SELECT id FROM docs WHERE cluster=?) AND seq<?",
					r.Rank, int64(r.Seq), r.Cluster[:], int64(r.Seq))
				if err != nil {
					return fmt.Errorf("rank of cluster %x: %w", r.Cluster[:8], err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// PruneTombstones forgets deletes below a Seq. That is safe once no older change can be
// delivered (the pipeline's horizon of garbage collection).
func (w *Writer) PruneTombstones(ctx context.Context, below uint64) error {
	return w.submit(ctx, groupSize, func(t *tables) error {
		return t.exec("DELETE FROM tombstones WHERE seq<?", int64(min(below, math.MaxInt64)))
	})
}

// refreshBatch bounds how long a large call keeps other callers waiting.
const refreshBatch = 5000
