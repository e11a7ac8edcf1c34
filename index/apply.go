package index

import (
	"bytes"
	"context"
	"fmt"

	"github.com/webindexer/indexer/page"
)

// # What the index holds after any sequence of changes
//
// The pipeline delivers at least once and in any order: twice, late, from several workers.
// Each of these rules is applied within one SQLite transaction:
//
//  1. In each cluster, the highest Seq wins. A change whose Seq is not above that of the
//     cluster's row in docs or tombstones does nothing.
//  2. A delete leaves (cluster, Seq) in tombstones. A late, older upsert finds it (rule 1)
//     and cannot restore the document.
//  3. A URL has one document. If the document of cluster c at Seq s arrives for a URL that
//     cluster d holds at Seq t, the higher of (s, c) and (t, d) keeps the URL. The other
//     document is dropped, and its cluster gets a tombstone at its Seq.
//
// Claim: once every change has been delivered, the index is the last state of the pipeline,
// whatever the order. This needs one property of the pipeline, (P): in every snapshot a URL
// is canonical for at most one cluster, and whenever the document of a cluster changes (to
// another URL, or to none), a change with a Seq at or after that snapshot is delivered.
//
// Argument. Let D be the document of cluster c at Seq s, the newest change of c. When D
// arrives, rule 1 admits it, since nothing of c is newer. Suppose that rule 3 rejects D, or
// drops it later: then a document of another cluster d was delivered for the same URL u at
// Seq t ≥ s. In snapshot t, u belongs to d, so by (P) not to c: between s and t the
// document of c changed, and a change of c newer than s is delivered. So D was not the
// newest. (t = s would mean one URL with two clusters in one snapshot. Should that happen,
// the cluster key decides, in any order alike.) Conversely, nothing else stays: a row of c
// that is not its newest change is replaced when the newest arrives, and a dropped row does
// not come back, because of its tombstone. Hence docs is exactly the set of newest upserts.
//
// Rejected: to keep a dropped document hidden and restore it when the URL becomes free.
// That would not need (P), but would show documents that are known to be out of date, and
// store texts that are never shown.
//
// Ranks and times follow the same rules: a rank wins by its Seq, a time by being later. One
// that arrives before its document is dropped: the pipeline reads both when it computes a
// document, and a separate update is sent again in the next round.

// Apply makes changes durable in one transaction before it returns. It analyses the documents
// in the calling goroutine, so call it from several goroutines. On an error, the index has
// none of these changes, unless the context was cancelled: then it may have all of them.
func (w *Writer) Apply(ctx context.Context, changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	prepared := make([]*prepared, len(changes))
	for i := range changes {
		p, err := w.prepare(ctx, &changes[i])
		if err != nil {
			return fmt.Errorf("index %s: %w", w.dir, err)
		}
		prepared[i] = p
	}
	return w.submit(ctx, len(changes), func(t *tables) error {
		for _, p := range prepared {
			if err := t.change(p); err != nil {
				return fmt.Errorf("cluster %x: %w", p.Cluster[:8], err)
			}
		}
		return nil
	})
}

// stored is what the index knows about a cluster or a URL.
type stored struct {
	id      int64
	cluster []byte
	seq     int64
	url     string
	hash    []byte
	digest  []byte
}

func (t *tables) change(p *prepared) error {
	own, found, err := t.byCluster(p.Cluster)
	if err != nil {
		return err
	}
	seq := int64(p.Seq)
	t.state.Seq = max(t.state.Seq, p.Seq)
	own.cluster = p.Cluster[:]
	if !found {
		var dead int64
		buried, err := t.row("SELECT seq FROM tombstones WHERE cluster=?", []any{p.Cluster[:]}, &dead)
		if err != nil {
			return err
		}
		if buried && seq <= dead {
			return nil // rule 1
		}
	} else if seq <= own.seq {
		return nil // rule 1
	}
	if p.Doc == nil {
		return t.bury(&own, seq) // rule 2
	}
	wins, err := t.claimURL(p)
	if err != nil {
		return err
	}
	if !wins {
		return t.bury(&own, seq) // rule 3, the newcomer loses
	}
	if found {
		return t.replace(p, own)
	}
	return t.insert(p)
}

// claimURL applies rule 3. It drops the document of another cluster that holds p's URL,
// or reports that p may not have the URL.
func (t *tables) claimURL(p *prepared) (bool, error) {
	var h stored
	found, err := t.row("SELECT id, cluster, seq, digest FROM docs WHERE url=?", []any{string(p.Doc.URL)}, &h.id, &h.cluster, &h.seq, &h.digest)
	if err != nil || !found || bytes.Equal(h.cluster, p.Cluster[:]) {
		return true, err
	}
	if h.seq > int64(p.Seq) || h.seq == int64(p.Seq) && bytes.Compare(h.cluster, p.Cluster[:]) > 0 {
		return false, nil
	}
	return true, t.bury(&h, h.seq)
}

func (t *tables) byCluster(c page.ContentKey) (stored, bool, error) {
	var s stored
	found, err := t.row("SELECT id, seq, url, hash, digest FROM docs WHERE cluster=?", []any{c[:]}, &s.id, &s.seq, &s.url, &s.hash, &s.digest)
	return s, found, err
}

// bury removes a cluster's document, if it has one (its id is not 0), and leaves a
// tombstone.
func (t *tables) bury(d *stored, seq int64) error {
	if d.id != 0 {
		if err := t.uncount(d.id); err != nil {
			return err
		}
		for _, table := range []string{"docs", "ranks", "times", "sketches", "thumbnails"} {
			if err := t.exec("DELETE FROM "+table+" WHERE id=?", d.id); err != nil {
				return err
			}
		}
		t.fullText[d.id] = nil
		t.removed(d.cluster, d.digest)
	}
	return t.exec("INSERT INTO tombstones(cluster, seq) VALUES(?,?) ON CONFLICT(cluster) DO UPDATE SET seq=excluded.seq", d.cluster, seq)
}
