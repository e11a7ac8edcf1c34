package observers

import (
	"bytes"
	"context"
	"slices"

	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// linkList is a list of links of a page, stored in parts (schema/parts.go).
type linkList struct {
	tx     *txn.Txn
	row    string
	column txn.Column
	parts  int      // number of parts
	first  linkPart // part 0
	ts     uint64   // when the list was written; 0 if there is none
}

// linkPart is a part of a list in memory.
type linkPart []schema.TargetLinks

func (p linkPart) Len() int                         { return len(p) }
func (p linkPart) Entry(i int) (page.URL, []string) { return p[i].Target, p[i].Anchors }
func (l *linkList) Parts() int                      { return l.parts }
func (l *linkList) from(at schema.LinkPlace) *document.ListReader {
	return document.ReadList(l, document.ListPlace(at))
}

// openLinks opens a list at its first part.
func openLinks(ctx context.Context, tx *txn.Txn, row string, column txn.Column) (*linkList, error) {
	v, err := tx.Get(ctx, row, column)
	if err != nil {
		return nil, err
	}
	return linksIn(tx, row, column, v)
}

// linksIn opens a list whose first part was read.
func linksIn(tx *txn.Txn, row string, column txn.Column, v txn.Value) (*linkList, error) {
	l := &linkList{tx: tx, row: row, column: column}
	if !v.Exists {
		return l, nil
	}
	groups, further, err := schema.DecodeLinkPart(v.Data)
	l.parts, l.first, l.ts = 1+further, groups, v.TS
	return l, err
}

// raw returns a part as it is stored.
func (l *linkList) raw(ctx context.Context, i int) ([]byte, error) {
	v, err := l.tx.GetOnce(ctx, l.row, schema.Part(l.column, i))
	return v.Data, err
}

func (l *linkList) part(ctx context.Context, i int) (linkPart, error) {
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

// Part implements document.LinkList.
func (l *linkList) Part(ctx context.Context, i int) (document.LinkPart, error) {
	return l.part(ctx, i)
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

// same reports whether two lists have the same parts. Lists that differ only in where
// they are cut count as different, once.
func (l *linkList) same(ctx context.Context, other *linkList) (bool, error) {
	if l.parts != other.parts {
		return false, nil
	}
	for i := range l.parts {
		x, err := l.raw(ctx, i)
		if err != nil {
			return false, err
		}
		y, err := other.raw(ctx, i)
		if err != nil || !bytes.Equal(x, y) {
			return false, err
		}
	}
	return true, nil
}

// replace writes the parts that have changed. If anything has changed, it also writes the
// first part, which wakes links and whose timestamp is that of the list. It reports
// whether anything has changed.
func (l *linkList) replace(ctx context.Context, parts [][]byte) (changed bool, err error) {
	changed = l.parts != len(parts)
	for i := len(parts) - 1; i >= 0; i-- {
		var old []byte
		if i < l.parts {
			if old, err = l.raw(ctx, i); err != nil {
				return false, err
			}
		}
		if i >= l.parts || !bytes.Equal(parts[i], old) || i == 0 && changed {
			l.tx.Set(l.row, schema.Part(l.column, i), parts[i])
			changed = true
		}
	}
	deleteParts(l.tx, l.row, l.column, len(parts), l.parts)
	return changed, nil
}

// copyTo replaces the list of another column, which had the given number of parts, with a
// copy of this one.
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

// deleteParts removes the parts of a list, beginning with the given one; had is the
// number of parts.
func deleteParts(tx *txn.Txn, row string, c txn.Column, from, had int) {
	for i := from; i < had; i++ {
		tx.Delete(row, schema.Part(c, i))
	}
}

// setAnchors replaces the anchors of a pair row, part by part. Nil means that there is no row.
func setAnchors(tx *txn.Txn, row string, old, now [][]string) {
	for i, anchors := range now {
		c := schema.Part(schema.Anchors, i)
		switch {
		case i >= len(old):
			tx.Create(row, c, schema.EncodeAnchors(anchors))
		case !slices.Equal(old[i], anchors):
			tx.Set(row, c, schema.EncodeAnchors(anchors))
		}
	}
	deleteParts(tx, row, schema.Anchors, len(now), len(old))
}
