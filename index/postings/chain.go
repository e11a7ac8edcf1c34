package postings

import (
	"bytes"
	"context"
	"slices"
)

// chain collects, from one segment, the doclists of a term, or of all terms with a prefix.
// They may span many pages.
type chain struct {
	seg    *segment
	key    []byte
	prefix bool
	page   int64 // the next page to read
	ended  bool

	open *doclist // the last one of done, if it may continue on the next page
	done []*doclist
}

type doclist struct {
	term  string // if a prefix is looked for
	data  []byte
	whole []int // offsets of row ids that are not differences
}

// seek reads the page of each segment on which key is. The chains are in the order of the
// segments.
func (x *Index) seek(ctx context.Context, key []byte, prefix bool) ([]*chain, error) {
	chains := make([]*chain, len(x.segments))
	of := make(map[int64]*chain, len(x.segments))
	for i, s := range x.segments {
		chains[i] = &chain{seg: s, key: key, prefix: prefix, page: s.first}
		of[s.id] = chains[i]
	}
	err := x.src.seek(ctx, x.numbers, key, func(id int64, b []byte) (bool, error) {
		c, page := of[id>>pageBits], id&(1<<31-1)
		if c == nil || page < c.seg.first || page > c.seg.last { // a merge has removed the lower pages; the rest begins at first
			return true, nil
		}
		c.page = page + 1
		return true, c.begin(b)
	})
	return chains, err
}

// begin reads the first page.
func (c *chain) begin(b []byte) error {
	l, err := parseLeaf(b)
	if err != nil {
		return err
	}
	return c.terms(l)
}

// terms takes the doclists of the matching terms of a page.
func (c *chain) terms(l leaf) error {
	t, err := l.terms()
	if err != nil {
		return err
	}
	ok, err := t.find(c.key)
	for ; ok && err == nil; ok, err = t.step() {
		if !bytes.Equal(t.term, c.key) && !(c.prefix && bytes.HasPrefix(t.term, c.key)) {
			c.ended = true
			return nil
		}
		d := &doclist{data: append([]byte(nil), t.doclist...)}
		if c.prefix {
			d.term = string(t.term)
		}
		c.done, c.open = append(c.done, d), nil
		if t.open {
			c.open = d
		}
	}
	// At the end of the page, the last doclist may continue, and a prefix may have further
	// terms. A term that has not been found here does not exist.
	c.ended = c.open == nil && !c.prefix
	return err
}

// follow reads the pages after the first, and the first if it was not read.
func (x *Index) follow(ctx context.Context, c *chain) error {
	if c.ended || c.page > c.seg.last {
		return nil
	}
	missing := func() error { return corrupt("page %d of segment %d is missing", c.page, c.seg.id) }
	err := x.src.blocks(ctx, c.seg.page(c.page), c.seg.page(c.seg.last), func(id int64, b []byte) (bool, error) {
		if id != c.seg.page(c.page) {
			return false, missing()
		}
		c.page++
		l, err := parseLeaf(b)
		if err == nil {
			err = c.resume(l)
		}
		return !c.ended, err
	})
	if err == nil && !c.ended && c.page <= c.seg.last {
		err = missing()
	}
	return err
}

// resume takes the part of the open doclist that is on a page and, if the doclist ends
// there, further terms.
func (c *chain) resume(l leaf) error {
	rest, row, ends, err := l.rest()
	if err != nil {
		return err
	}
	if c.open != nil {
		if row >= 0 {
			c.open.whole = append(c.open.whole, len(c.open.data)+row)
		}
		if d := c.open; cap(d.data)-len(d.data) < len(rest) { // long lists have many pages: double the room
			d.data = slices.Grow(d.data, len(d.data)+len(rest))
		}
		c.open.data = append(c.open.data, rest...)
	}
	if !ends {
		return nil
	}
	c.open = nil
	if len(c.done) > 0 && !c.prefix {
		c.ended = true
		return nil
	}
	return c.terms(l)
}
