package relevancebench

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/page"
)

// bench holds the queries and the copies of the index.
type bench struct {
	o     Options
	kinds []kind

	whole  *index.Reader // without the links that are held out
	own    *index.Reader // and without anchors of other sites
	silent *index.Reader // without anchors

	server *served // with the documents of whole; nil if none is asked
}

// copies makes the indexes under dir and opens them.
func (b *bench) copies(ctx context.Context, source, dir string) (err error) {
	held := make(map[page.URL][]string)
	for _, k := range b.kinds {
		for _, item := range slices.Concat(k.items, k.unasked) {
			if item.held != "" {
				held[item.want] = append(held[item.want], item.held)
			}
		}
	}
	holdOut := func(d *index.Document) {
		for _, anchor := range held[d.URL] {
			d.Anchors = withoutLink(d.Anchors, anchor)
			d.Inlinks--
		}
	}
	if b.whole, err = copyIndex(ctx, source, filepath.Join(dir, "held-out"), holdOut); err != nil {
		return err
	}
	if b.o.Server != nil {
		b.server, err = b.o.Server.copyOf(ctx, b.whole)
		return err
	}
	b.own, err = copyIndex(ctx, source, filepath.Join(dir, "own-anchors"), func(d *index.Document) {
		holdOut(d)
		d.Anchors = withoutOthers(d.Anchors)
	})
	if err != nil {
		return err
	}
	b.silent, err = copyIndex(ctx, source, filepath.Join(dir, "no-anchors"), func(d *index.Document) { d.Anchors = nil })
	return err
}

func (b *bench) close(ctx context.Context) error {
	var errs []error
	if b.server != nil {
		errs = append(errs, b.server.close(ctx))
	}
	for _, r := range []*index.Reader{b.whole, b.own, b.silent} {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	return errors.Join(errs...)
}

// withoutLink takes one link away from an anchor, and the anchor when it was the last.
// If there is a link of another site it takes that, because such links help most.
func withoutLink(anchors []index.Anchor, text string) []index.Anchor {
	anchors = slices.Clone(anchors)
	for i := range anchors {
		if a := &anchors[i]; a.Text == text {
			a.Count--
			a.Others = max(a.Others-1, 0)
		}
	}
	return slices.DeleteFunc(anchors, func(a index.Anchor) bool { return a.Count <= 0 })
}

// withoutOthers takes the links of other sites away.
func withoutOthers(anchors []index.Anchor) []index.Anchor {
	anchors = slices.Clone(anchors)
	for i := range anchors {
		anchors[i].Count -= anchors[i].Others
		anchors[i].Others = 0
	}
	return slices.DeleteFunc(anchors, func(a index.Anchor) bool { return a.Count <= 0 })
}

func copyIndex(ctx context.Context, from, to string, change func(*index.Document)) (_ *index.Reader, err error) {
	r, err := index.OpenReader(from)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	w, err := index.OpenWriter(ctx, to, index.WriterOptions{})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(fillCopy(ctx, r, w.Apply, change), w.Close()); err != nil {
		return nil, err
	}
	return index.OpenReader(to)
}

// fillCopy applies all documents of an index, changed.
func fillCopy(ctx context.Context, from documents, apply func(context.Context, []index.Change) error, change func(*index.Document)) error {
	var batch []index.Change
	flush := func() error {
		err := apply(ctx, batch)
		batch = nil
		return err
	}
	err := from.Documents(ctx, func(d index.Document) error {
		change(&d)
		if batch = append(batch, index.Upsert(&d)); len(batch) < measure.BatchSize {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}
