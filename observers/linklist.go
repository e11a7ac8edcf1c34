package observers

import (
	"context"
	"slices"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// linkList is a list of links of a page, stored in parts (schema/parts.go).
type linkList struct {
	tx     *txn.Txn
	row    string
	column txn.Column
	parts  int                  // how many there are
	first  []schema.TargetLinks // of part 0
	ts     uint64               // when the list was written, 0 if there is none
}

// openLinks opens a list at its first part.
func openLinks(ctx context.Context, tx *txn.Txn, row string, column txn.Column) (*linkList, error) {
	l := &linkList{tx: tx, row: row, column: column}
	v, err := tx.Get(ctx, row, column)
	if err != nil || !v.Exists {
		return l, err
	}
	groups, further, err := schema.DecodeLinkPart(v.Data)
	l.parts, l.first, l.ts = 1+further, groups, v.TS
	return l, err
}

// raw is a part as stored.
func (l *linkList) raw(ctx context.Context, i int) ([]byte, error) {
	v, err := l.tx.GetOnce(ctx, l.row, schema.Part(l.column, i))
	return v.Data, err
}

// part is a part, of which all entries are in memory.
func (l *linkList) part(ctx context.Context, i int) ([]schema.TargetLinks, error) {
	if i == 0 {
		return l.first, nil
	}
	b, err := l.raw(ctx, i)
	if err != nil {
		return nil, err
	}
	groups, _, err := schema.DecodeLinkPart(b)
	return groups, err
}

// each visits all entries, part by part.
func (l *linkList) each(ctx context.Context, fn func(schema.TargetLinks) error) error {
	for i := range l.parts {
		groups, err := l.part(ctx, i)
		if err != nil {
			return err
		}
		for _, g := range groups {
			if err := fn(g); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyTo has another list become a copy of this one; it had so many parts before.
func (l *linkList) copyTo(ctx context.Context, to txn.Column, had int) error {
	for i := range l.parts {
		b, err := l.raw(ctx, i)
		if err != nil {
			return err
		}
		l.tx.Set(l.row, schema.Part(to, i), b)
	}
	deleteParts(l.tx, l.row, to, l.parts, had)
	return nil
}

// remove removes the list.
func (l *linkList) remove() { deleteParts(l.tx, l.row, l.column, 0, l.parts) }

// deleteParts removes the parts of a list from one on, of those that it had.
func deleteParts(tx *txn.Txn, row string, c txn.Column, from, had int) {
	for i := from; i < had; i++ {
		tx.Delete(row, schema.Part(c, i))
	}
}

// linkReader reads a list of links target by target. Of the list it has a part in memory, or two.
type linkReader struct {
	list   *linkList
	at     schema.LinkPlace // of what has not been read
	loaded int              // the part that groups are of, -1
	groups []schema.TargetLinks

	target  page.URL   // of what was peeked at
	anchors [][]string // its anchors, as they are cut
	behind  schema.LinkPlace
}

func newLinkReader(list *linkList, at schema.LinkPlace) *linkReader {
	return &linkReader{list: list, at: at, loaded: -1}
}

// peek reads the next target; false at the end.
func (r *linkReader) peek(ctx context.Context) (bool, error) {
	if r.anchors != nil {
		return true, nil
	}
	r.behind = r.at
	for {
		g, err := r.entry(ctx)
		if err != nil {
			return false, err
		}
		if g == nil || r.anchors != nil && g.Target != r.target {
			return r.anchors != nil, nil
		}
		r.target, r.anchors = g.Target, append(r.anchors, g.Anchors)
		r.behind.Index++
	}
}

// entry is the entry at behind, which it moves on to the part where that is; nil at the
// end.
func (r *linkReader) entry(ctx context.Context) (*schema.TargetLinks, error) {
	for r.behind.Part < r.list.parts {
		if r.loaded != r.behind.Part {
			var err error
			if r.groups, err = r.list.part(ctx, r.behind.Part); err != nil {
				return nil, err
			}
			r.loaded = r.behind.Part
		}
		if r.behind.Index < len(r.groups) {
			return &r.groups[r.behind.Index], nil
		}
		r.behind = schema.LinkPlace{Part: r.behind.Part + 1}
	}
	return nil, nil
}

// skip goes on behind what was peeked at.
func (r *linkReader) skip() { r.at, r.anchors = r.behind, nil }

// size is what was peeked at, in entries and bytes.
func (r *linkReader) size() (entries, bytes int) {
	for _, list := range r.anchors {
		entries += len(list)
		for _, a := range list {
			bytes += len(a)
		}
	}
	return entries, bytes + len(r.target)
}

// setAnchors brings a pair row from old anchors to others, part by part. nil is no row.
func setAnchors(tx *txn.Txn, row string, old, now [][]string) {
	for i, anchors := range now {
		if i >= len(old) || !slices.Equal(old[i], anchors) {
			tx.Set(row, schema.Part(schema.Anchors, i), schema.EncodeAnchors(anchors))
		}
	}
	deleteParts(tx, row, schema.Anchors, len(now), len(old))
}
