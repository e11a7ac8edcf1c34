package observers

import (
	"bytes"
	"context"
	"slices"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// linker inverts the links of a page.
//
//	watches  doc:links
//	reads    doc:links, doc:inverted, doc:inverting, url:inversion, url:pending of the page
//	writes   the link rows that differ, doc:inverted, doc:inverting, url:inversion,
//	         url:pending
//	wakes    forward and, in a crawl, discover (weak) of the page; itself (weak), to go on
//
// One row for each pair of pages: a popular target is a range of rows that
// nobody reads in order to write. Which clusters the targets belong to is not
// looked up here but by forward, later: see the package's head.
//
// # Pages with very many links
//
// Links that fit into one part (schema/parts.go), before and now, are inverted in one
// transaction. Of others a run takes a part's worth: an inversion brings the link rows
// from doc:inverted to a copy of doc:links, doc:inverting, in the order of targets, and
// url:inversion says how far it has come in both. When all is done, the copy becomes
// doc:inverted. Invariants, in every snapshot:
//
//  1. Without url:inversion the page's link rows are those of doc:inverted, and there is
//     no doc:inverting. With it they are those of doc:inverting before the places in
//     url:inversion, and those of doc:inverted from there on.
//  2. doc:inverted and doc:inverting do not change during an inversion.
//  3. If there is an inversion, or doc:links differs from doc:inverted, then the page has
//     a notification for us, or url:pending is full.
//  4. If url:pending is there, the page has a notification for forward.
//
// By 1 every row that is to go is found, wherever a crash ends the process: all of a
// step is one transaction. By 2 and 3 an inversion ends after a bounded number of steps. If
// doc:links has changed meanwhile, which the timestamps tell, another one follows; so the
// rows of a half-done list stay no longer than it takes to do the rest, however often the
// page changes. Readers who see some rows of the old list and some of the new are no
// worse off than those who come a moment early: each row that changes wakes the cluster
// of its target after it has changed.
//
// Rejected: to begin anew from the rows that are there whenever doc:links changes, with
// doc:inverted patched step by step, needs no copy, but a page that changes more often than
// a step is done never gets beyond its first targets.
//
// # Targets that wait
//
// url:pending is one cell, so we add to it only while it is not full, and forward, when it
// empties one that was full, wakes us. We find it full at S; whoever empties it has read
// this or a later one, and later ones are only fuller: it wakes us at C > S.
type linker struct{ part schema.PartSize }

func (x *linker) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	done := 0
	for _, row := range rows {
		if done >= x.part.Entries { // the rest in another run
			tx.Notify(row, schema.Links)
			continue
		}
		changed, err := x.page(ctx, tx, row)
		if err != nil {
			return err
		}
		done += changed
	}
	return nil
}

// page inverts the links of a page, or some of them, and says how many targets changed.
func (x *linker) page(ctx context.Context, tx *txn.Txn, row string) (changed int, err error) {
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return 0, err
	}
	if _, err := tx.GetRow(ctx, row, schema.GroupURL); err != nil {
		return 0, err
	}
	if full, err := x.isFull(ctx, tx, row); err != nil || full {
		return 0, err
	}
	inversion, err := tx.Get(ctx, row, schema.Inversion)
	if err != nil {
		return 0, err
	}
	if inversion.Exists {
		return x.goOn(ctx, tx, u, row, inversion.Data)
	}
	if _, err := tx.GetRow(ctx, row, schema.GroupDoc); err != nil {
		return 0, err
	}
	said, err := openLinks(ctx, tx, row, schema.Links)
	if err != nil {
		return 0, err
	}
	inverted, err := openLinks(ctx, tx, row, schema.Inverted)
	if err != nil {
		return 0, err
	}
	same, err := sameLinks(ctx, said, inverted)
	if err != nil || same {
		return 0, err
	}
	tx.Notify(row, schema.Discover)
	if said.parts > 1 || inverted.parts > 1 {
		return x.part.Entries, begin(ctx, tx, row, said)
	}
	now, old := newLinkReader(said, schema.LinkPlace{}), newLinkReader(inverted, schema.LinkPlace{})
	targets, _, err := invert(ctx, tx, u, old, now, nil)
	if err != nil {
		return 0, err
	}
	if err := said.copyTo(ctx, schema.Inverted, inverted.parts); err != nil {
		return 0, err
	}
	return len(targets), addPending(ctx, tx, row, targets)
}

// sameLinks reports whether two lists of a page hold the same. What differs in nothing but
// how it is cut counts as different, once.
func sameLinks(ctx context.Context, a, b *linkList) (bool, error) {
	if a.parts != b.parts {
		return false, nil
	}
	for i := range a.parts {
		x, err := a.raw(ctx, i)
		if err != nil {
			return false, err
		}
		y, err := b.raw(ctx, i)
		if err != nil || !bytes.Equal(x, y) {
			return false, err
		}
	}
	return true, nil
}

// begin begins an inversion.
func begin(ctx context.Context, tx *txn.Txn, row string, said *linkList) error {
	if err := said.copyTo(ctx, schema.Inverting, 0); err != nil {
		return err
	}
	tx.Set(row, schema.Inversion, schema.StoredInversion{Said: said.ts}.Encode())
	tx.Notify(row, schema.Links)
	return nil
}

// goOn does the next step of an inversion.
func (x *linker) goOn(ctx context.Context, tx *txn.Txn, u page.URL, row string, data []byte) (changed int, err error) {
	s, err := schema.DecodeInversion(data)
	if err != nil {
		return 0, err
	}
	inverted, err := openLinks(ctx, tx, row, schema.Inverted)
	if err != nil {
		return 0, err
	}
	inverting, err := openLinks(ctx, tx, row, schema.Inverting)
	if err != nil {
		return 0, err
	}
	old, now := newLinkReader(inverted, s.Old), newLinkReader(inverting, s.Now)
	targets, all, err := invert(ctx, tx, u, old, now, &x.part)
	if err != nil {
		return 0, err
	}
	if all {
		err = end(ctx, tx, row, s.Said, inverted, inverting)
	} else {
		tx.Set(row, schema.Inversion, schema.StoredInversion{Said: s.Said, Old: old.at, Now: now.at}.Encode())
		tx.Notify(row, schema.Links)
	}
	if err != nil {
		return 0, err
	}
	return len(targets), addPending(ctx, tx, row, targets)
}

// end ends an inversion. If the page says something else by now, another one follows.
func end(ctx context.Context, tx *txn.Txn, row string, began uint64, inverted, inverting *linkList) error {
	if err := inverting.copyTo(ctx, schema.Inverted, inverted.parts); err != nil {
		return err
	}
	inverting.remove()
	tx.Delete(row, schema.Inversion)
	said, err := tx.Get(ctx, row, schema.Links)
	if err != nil {
		return err
	}
	if said.TS != began {
		tx.Notify(row, schema.Links)
	}
	return nil
}

// looksFor is how many times as many targets as it changes a step looks at.
const looksFor = 16

// invert brings the link rows of a page from old to now, and returns the targets whose
// rows changed. With a bound it stops, between two targets, when it has changed a part's
// worth of them, or looked at looksFor parts, and says whether that was all.
func invert(ctx context.Context, tx *txn.Txn, u page.URL, old, now *linkReader, bound *schema.PartSize) (changed []page.URL, all bool, err error) {
	looked, entries, size := 0, 0, 0
	for {
		isOld, err := old.peek(ctx)
		if err != nil {
			return nil, false, err
		}
		isNow, err := now.peek(ctx)
		if err != nil || !isOld && !isNow {
			return changed, true, err
		}
		if looked++; bound != nil && (entries >= bound.Entries || size >= bound.Bytes || looked > looksFor*bound.Entries) {
			return changed, false, nil
		}
		target, r := now.target, now
		var before, after [][]string
		if !isNow || isOld && old.target < now.target {
			target, r = old.target, old
		}
		if isOld && old.target == target {
			before = old.anchors
		}
		if isNow && now.target == target {
			after = now.anchors
		}
		if !slices.EqualFunc(before, after, slices.Equal) {
			setAnchors(tx, schema.PairRow(target, u), before, after)
			changed = append(changed, target)
			n, b := r.size()
			entries, size = entries+n, size+b+len(u)
		}
		if before != nil {
			old.skip()
		}
		if after != nil {
			now.skip()
		}
	}
}

// isFull reports whether as many targets wait for forward as one cell is to hold.
func (x *linker) isFull(ctx context.Context, tx *txn.Txn, row string) (bool, error) {
	waiting, err := tx.Get(ctx, row, schema.Pending)
	if err != nil || !waiting.Exists {
		return false, err
	}
	targets, err := schema.DecodeURLs(waiting.Data)
	return isFull(targets, len(waiting.Data), x.part), err
}

func isFull(targets []page.URL, size int, part schema.PartSize) bool {
	return len(targets) >= part.Entries || size >= part.Bytes
}

// addPending leaves targets for forward, in addition to those it has not dealt
// with yet.
func addPending(ctx context.Context, tx *txn.Txn, row string, targets []page.URL) error {
	if len(targets) == 0 {
		return nil
	}
	pending, err := tx.Get(ctx, row, schema.Pending)
	if err != nil {
		return err
	}
	waiting, err := schema.DecodeURLs(pending.Data)
	if err != nil {
		return err
	}
	targets = append(targets, waiting...)
	slices.Sort(targets)
	tx.Set(row, schema.Pending, schema.EncodeURLs(slices.Compact(targets)))
	tx.Notify(row, schema.NotifyTargets)
	return nil
}
