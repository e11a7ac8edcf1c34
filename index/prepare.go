package index

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/index/spelling"
	"github.com/webindexer/indexer/page"
)

// prepared is a change with everything done that the caller's goroutine can do.
type prepared struct {
	Change
	hash             textHash
	outline          page.Outline
	members, anchors string // JSON
	// body is the costly part: compressed text and columns. It is nil while the stored
	// document seems to have the same text.
	body *body
}

type body struct {
	headings            string
	outline, head, rest []byte
	columns             analysis.Columns
	spelled             spelling.Words
	sketch              sketch.Sketch
	translations        int64
	sample              []byte
}

func (w *Writer) prepare(ctx context.Context, c *Change) (*prepared, error) {
	p, err := newPrepared(c)
	if err != nil || c.Doc == nil {
		return p, err
	}
	p.hash = hashText(p.Doc)
	same, err := w.sameText(ctx, p)
	if err == nil && !same {
		p.makeBody(w.tx.vocabulary)
	}
	return p, err
}

// newPrepared checks a change, and prepares everything except the costly body.
func newPrepared(c *Change) (*prepared, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &prepared{Change: *c}
	if c.Doc == nil {
		return p, nil
	}
	d := *c.Doc // the caller may change its own after a cancelled context
	p.Doc = &d
	d.Anchors = storableAnchors(d.Anchors)
	var err error
	if p.outline, err = page.DecodeOutline(d.Outline, len(d.Text)); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, d.URL, err)
	}
	if p.members, err = jsonList(d.Members); err != nil {
		return nil, fmt.Errorf("%w: %s: members: %w", ErrInvalid, d.URL, err)
	}
	if p.anchors, err = jsonList(d.Anchors); err != nil {
		return nil, fmt.Errorf("%w: %s: anchors: %w", ErrInvalid, d.URL, err)
	}
	return p, nil
}

// storableAnchors returns anchors as they come out of JSON, which has no invalid UTF-8:
// the hash covers what will be read back.
func storableAnchors(list []Anchor) []Anchor {
	if !slices.ContainsFunc(list, func(a Anchor) bool { return !utf8.ValidString(a.Text) }) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Text = string([]rune(list[i].Text))
	}
	return list
}

// rowSum returns the checksum of the row of docs.
func (p *prepared) rowSum() int64 {
	d := p.Doc
	r := storedRow{
		cluster: p.Cluster[:], seq: int64(p.Seq), url: []byte(d.URL), hash: p.hash[:], language: []byte(d.Language), title: []byte(d.Title),
		inlinks: int64(d.Inlinks), membersTotal: int64(d.MembersTotal), members: []byte(p.members), anchors: []byte(p.anchors), digest: d.Digest[:],
	}
	return r.sum()
}

// makeBody analyses and compresses the document, if that is not done yet. It leaves out
// known words.
func (p *prepared) makeBody(known *spelling.Vocabulary) {
	if p.body != nil {
		return
	}
	b := &body{headings: headingsOf(p.Doc, &p.outline), outline: packOutline(p.Doc.Outline), translations: translations(p.Doc, &p.outline)}
	b.head, b.rest = pack(p.Doc.Text)
	words := collectors.Get().(*spelling.Collector)
	var l likeness
	b.columns = textOf(p.Doc, &p.outline).AnalyzeWords(func(t *analysis.Token, text string, from analysis.Source) {
		words.Add(t, text, from)
		l.add(t, from)
	})
	b.spelled, b.sketch, b.sample = words.Words(known), l.main.Sketch(), l.stored()
	words.Reset()
	collectors.Put(words)
	p.body = b
}

var collectors = sync.Pool{New: func() any { return new(spelling.Collector) }}

// sameText reports whether the stored document has the same text hash now. This is a guess
// that saves analysis; the writer goroutine checks again.
func (w *Writer) sameText(ctx context.Context, p *prepared) (bool, error) {
	var hash []byte
	ctx = context.WithoutCancel(ctx) // short; see tables
	err := w.peekHash.QueryRowContext(ctx, p.Cluster[:]).Scan(&hash)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil && w.isClosing():
		return false, ErrClosed
	}
	return bytes.Equal(hash, p.hash[:]), err
}

func jsonList[T any](list []T) (string, error) {
	if len(list) == 0 {
		return "[]", nil
	}
	b, err := json.Marshal(list)
	return string(b), err
}
