package webtest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// Browser is an observers.Renderer without a browser: forms are a function of the page and of
// everything that lookup returns. The bytes of a page, and what it gets for its first
// requests, decide which URLs it asks for. Some pages have no form.
type Browser struct {
	URLs int // of the web
	// During is called in the middle of each rendering; nil: nothing happens there.
	During func(ctx context.Context) error
}

// Version implements observers.Renderer.
func (b *Browser) Version() uint64 { return 7 }

// Render implements observers.Renderer.
func (b *Browser) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	var r observers.Rendering
	var seen, shown strings.Builder // only pictures show it
	number := numberOf(f.Body)
	for ask := []page.URL{URL(int(number % uint64(b.URLs))), URL(int(number / 7 % uint64(b.URLs)))}; len(ask) > 0 && len(r.Requests) < 5; ask = ask[1:] {
		u := ask[0]
		if u == f.URL || strings.Contains(seen.String(), string(u)+" ") {
			continue
		}
		r.Requests = append(r.Requests, u)
		if b.During != nil {
			if err := b.During(ctx); err != nil {
				return nil, err
			}
		}
		got, err := lookup(ctx, u)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&seen, "%s ", u)
		if got == nil {
			seen.WriteString("missing ")
			continue
		}
		fmt.Fprintf(&seen, "status %d %q ", got.Status, got.Header.Get("Location"))
		n := numberOf(got.Body)
		fmt.Fprintf(&shown, "content %d ", n%1000)
		if n%2 == 0 {
			fmt.Fprintf(&seen, "content %d ", n%1000)
			ask = append(ask, URL(int(n/2%uint64(b.URLs))))
		}
	}
	if number%11 == 0 {
		r.Failure = "the page is one in eleven"
		return &r, nil
	}
	r.HTML = fmt.Appendf(nil, "<title>Form</title><p>%s<a href='%s'>by script</a>", seen.String(), URL(int(number%uint64(b.URLs+1))))
	if number%5 == 0 {
		r.HTML = fmt.Appendf(r.HTML, "<link rel=canonical href='%s'>", URL(int(number/3%uint64(b.URLs))))
	}
	if number%3 == 0 {
		r.Screenshot, r.Thumbnail = []byte(seen.String()), []byte("small "+shown.String())
	}
	return &r, nil
}

func numberOf(body []byte) uint64 {
	sum := sha256.Sum256(body)
	return binary.BigEndian.Uint64(sum[:]) >> 1
}

// rendered adds what must be stored for rendered forms, and replaces the documents of pages
// that have one. It renders each qualifying page again, from the fetches in the table.
func (o Comparison) rendered(ctx context.Context, tx *txn.Txn, b *batch.Builder) (lines, error) {
	want := make(lines)
	setting, err := schema.ReadRender(ctx, tx)
	if err != nil {
		return nil, err
	}
	lookup := func(ctx context.Context, u page.URL) (*page.Fetch, error) { return usable(ctx, tx, u) }
	err = tx.Scan(ctx, schema.GroupFetch, "", "", func(row string, _ []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		f, err := usable(ctx, tx, u)
		if err != nil || f == nil {
			return err
		}
		doc, found := page.Examine(f)
		why := setting.Qualifies(&doc, found)
		if why == "" {
			return nil
		}
		browser := Browser{URLs: o.Browser.URLs}
		r, err := browser.Render(ctx, f, lookup)
		if err != nil {
			return err
		}
		content, err := tx.Get(ctx, row, schema.FetchContent)
		if err != nil {
			return err
		}
		want.add("form of %s: %x, %s, %q, %q, shot %q", Short(u), schema.DigestContent(content), why, r.Failure, r.HTML, r.Screenshot)
		for _, need := range r.Requests {
			v, err := tx.Get(ctx, schema.URLRow(need), schema.FetchContent)
			if err != nil {
				return err
			}
			want.add("input of %s: %s %x", Short(u), Short(need), schema.DigestContent(v))
			want.add("need %s", formatRow(schema.GroupNeed, schema.PairRow(need, u)))
		}
		if r.HTML == nil {
			return nil
		}
		at, err := observers.FetchedAt(ctx, tx, u)
		b.AddDecided(u, page.InterpretForm(f, &doc, r.HTML), at)
		return err
	})
	return want, err
}

// usable reads the fetch in force of a URL, or nil if there is none or its body is missing.
func usable(ctx context.Context, tx *txn.Txn, u page.URL) (*page.Fetch, error) {
	f, err := schema.ReadInForce(ctx, tx, u)
	if err != nil || f == nil {
		return nil, err
	}
	if stored, err := f.ReadBody(ctx, tx); err != nil || !stored && f.IsSuccess() {
		return nil, err
	}
	return &f.Fetch, nil
}

// readForms adds what is stored of rendered forms.
func (l lines) readForms(ctx context.Context, tx *txn.Txn) error {
	err := tx.Scan(ctx, schema.GroupRender, "", "", func(row string, cols []txn.Version) error {
		for _, c := range cols {
			if c.Name != schema.Form.Name {
				l.add("left over %s of %s", c.Name, formatRow(schema.GroupRender, row))
				continue
			}
			form, err := schema.DecodeForm(c.Data)
			if err != nil {
				return err
			}
			shot, err := tx.Get(ctx, row, schema.Screenshot)
			if err != nil {
				return err
			}
			l.add("form of %s: %x, %s, %q, %q, shot %q", formatRow(schema.GroupRender, row), form.Page, form.Why, form.Failure, form.HTML, shot.Data)
			for _, i := range form.Inputs {
				l.add("input of %s: %s %x", formatRow(schema.GroupRender, row), Short(i.URL), i.Content)
			}
			for _, u := range form.Stale {
				l.add("stale input of %s: %s", formatRow(schema.GroupRender, row), Short(u))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return tx.Scan(ctx, schema.GroupNeed, "", "", func(row string, _ []txn.Version) error {
		l.add("need %s", formatRow(schema.GroupNeed, row))
		return nil
	})
}
