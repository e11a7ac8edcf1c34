package verify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// storedFetch is a row of a fetch.
type storedFetch struct {
	row  string
	url  page.URL
	cols []txn.Version
}

// interpreted is the document of a stored fetch, without the parts that are only shown.
type interpreted struct {
	url   page.URL
	doc   page.Document
	at    time.Time
	facts facts
}

// computeBatch reads all fetches in force and computes their meaning.
func (v *verifier) computeBatch(ctx context.Context) error {
	b := batch.New()
	if err := v.interpretFetches(ctx, b); err != nil {
		return err
	}
	v.tell("all fetches are read; computing clusters and ranks")
	var err error
	if v.batch, err = b.Solve(ctx); err != nil {
		return err
	}
	for u := range v.batch.URLs() { // for linksTo
		slices.SortFunc(u.Document.Links, func(a, b page.Link) int {
			return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Anchor, b.Anchor))
		})
	}
	return nil
}

// interpretFetches adds the documents of all fetches to a batch. One goroutine scans, some
// interpret pages, and one collects the results.
//
// It keeps what the batch needs of each page, which is links and a few fields, and digests of
// the rest. Bodies and texts are never all in memory.
func (v *verifier) interpretFetches(ctx context.Context, b *batch.Builder) error {
	rows, done := make(chan storedFetch), make(chan interpreted)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(rows)
		return v.scanFetches(ctx, rows)
	})
	reports := make([]*Report, v.parts)
	g.Go(func() error {
		defer close(done)
		workers, ctx := errgroup.WithContext(ctx)
		for i := range reports {
			reports[i] = newReport()
			workers.Go(func() error { return v.interpretAll(ctx, rows, done, reports[i]) })
		}
		return workers.Wait()
	})
	v.facts = make(map[page.URL]facts)
	kept := make(interned)
	g.Go(func() error {
		for d := range done {
			kept.document(&d.doc)
			v.facts[d.url] = d.facts
			b.AddDecided(d.url, d.doc, d.at)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	v.rep.joinByRow(reports)
	return nil
}

func (v *verifier) scanFetches(ctx context.Context, rows chan<- storedFetch) error {
	return v.scan(ctx, schema.GroupFetch, func(row string, cols []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		v.rep.Checked["fetches"]++
		select {
		case rows <- storedFetch{row, u, slices.Clone(cols)}:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

func (v *verifier) interpretAll(ctx context.Context, rows <-chan storedFetch, done chan<- interpreted, rep *Report) error {
	reader := snapshot.NewReader(v.db, v.hold)
	defer reader.Close()
	for f := range rows {
		doc, at, err := v.interpret(ctx, reader.Document(), f, rep)
		if err != nil {
			return fmt.Errorf("stored fetch of %s: %w", f.url, err)
		}
		if doc.Outcome == page.Unfetched {
			continue
		}
		d := interpreted{url: f.url, doc: doc, at: at, facts: facts{state: schema.NewURLState(&doc), shown: digestText(doc.Title, doc.Text, doc.Language, doc.Outline)}}
		d.doc.Title, d.doc.Text, d.doc.Language, d.doc.Outline = "", "", "", ""
		select {
		case done <- d:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// document computes a whole document again.
func (v *verifier) document(ctx context.Context, u page.URL) (page.Document, error) {
	reader := snapshot.NewReader(v.db, v.hold)
	defer reader.Close()
	row := schema.URLRow(u)
	cols, err := reader.Document().GetRow(ctx, row, schema.GroupFetch)
	if err != nil {
		return page.Document{}, err
	}
	doc, _, err := v.interpret(ctx, reader.Document(), storedFetch{row, u, cols}, newReport()) // reported before
	return doc, err
}

// state returns the stored state that a URL should have.
func (v *verifier) state(u *batch.URL) schema.URLState {
	if f, ok := v.facts[u.URL]; ok {
		return f.state
	}
	return schema.NewURLState(&u.Document)
}

// digestOfText returns a digest of what is shown of a document.
type digestOfText [16]byte

func digestText(fields ...string) (d digestOfText) {
	h := sha256.New()
	var length [8]byte
	for _, f := range fields {
		binary.BigEndian.PutUint64(length[:], uint64(len(f)))
		h.Write(length[:])
		h.Write([]byte(f))
	}
	copy(d[:], h.Sum(nil))
	return d
}

// interned keeps one copy of each URL and anchor. Pages of a site repeat the same strings,
// and a string that was cut from a page would keep the whole page in memory.
type interned map[string]string

func (m interned) one(s string) string {
	if same, ok := m[s]; ok {
		return same
	}
	s = strings.Clone(s)
	m[s] = s
	return s
}

func (m interned) document(d *page.Document) {
	d.Target = page.URL(m.one(string(d.Target)))
	d.Links, d.Frames = slices.Clone(d.Links), slices.Clone(d.Frames)
	for i, l := range d.Links {
		d.Links[i] = page.Link{Target: page.URL(m.one(string(l.Target))), Anchor: m.one(l.Anchor)}
	}
	for i, f := range d.Frames {
		d.Frames[i] = page.URL(m.one(string(f)))
	}
}

// interpret makes a document of the columns of a stored fetch.
func (v *verifier) interpret(ctx context.Context, tx *txn.Txn, s storedFetch, rep *Report) (doc page.Document, at time.Time, err error) {
	var stamp, content []byte
	for _, c := range s.cols {
		switch c.Name {
		case schema.FetchTime.Name:
			stamp = c.Data
		case schema.FetchContent.Name:
			content = c.Data
		case schema.FetchFailure.Name:
			doc.Outcome = page.Failed
		}
	}
	if content == nil {
		return doc, at, nil
	}
	f, err := fetch(ctx, tx, s, stamp, content, rep)
	if err != nil {
		return doc, at, err
	}
	if at, err = observers.FetchedAt(ctx, tx, s.url); err != nil {
		return doc, at, err
	}
	doc, err = v.interpretFetch(ctx, tx, s.row, f, content, rep)
	return doc, at, err
}

// fetch assembles a stored fetch, and compares the body with the digests in the two
// columns that hold one.
func fetch(ctx context.Context, tx *txn.Txn, s storedFetch, stamp, content []byte, rep *Report) (*page.Fetch, error) {
	f, sum, err := schema.DecodeContent(content)
	if err != nil {
		return nil, err
	}
	f.URL = s.url
	decided, err := schema.DecodeFetchStamp(stamp)
	if err != nil {
		return nil, err
	}
	rep.same(schema.GroupFetch, string(s.url), schema.FetchTime.Name+" (body digest)", digest(decided.Sum), digest(sum))
	body, err := tx.GetOnce(ctx, s.row, schema.Body)
	if err != nil {
		return nil, err
	}
	if !body.Exists {
		if f.NeedsBody() {
			rep.add(schema.GroupBody, string(s.url), schema.Body.Name, "", "a body with the digest "+digest(sum))
		}
		return &f, nil
	}
	if f.Body, err = schema.DecodeBody(body.Data); err != nil {
		return nil, err
	}
	want := sum
	if f.Reading.Exists() { // the body is what was read of the payload
		want = f.Reading.Sum
	}
	rep.same(schema.GroupBody, string(s.url), schema.Body.Name+" (digest)", digest(sha256.Sum256(f.Body)), digest(want))
	return &f, nil
}

func digest(sum [32]byte) string { return fmt.Sprintf("%x", sum) }
