package verify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// computeBatch reads all fetches in force and computes their meaning.
func (v *verifier) computeBatch(ctx context.Context) error {
	b := batch.New()
	err := v.tx.Scan(ctx, schema.GroupFetch, "", "", func(row string, cols []txn.Version) error {
		v.rep.Checked["fetches"]++
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		doc, at, err := v.interpret(ctx, u, row, cols)
		if err != nil {
			return fmt.Errorf("stored fetch of %s: %w", u, err)
		}
		if doc.Outcome != page.Unfetched {
			b.AddDecided(u, doc, at)
		}
		return nil
	})
	if err != nil {
		return err
	}
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

// interpret makes a document of the columns of a stored fetch.
func (v *verifier) interpret(ctx context.Context, u page.URL, row string, cols []txn.Version) (doc page.Document, at time.Time, err error) {
	var stamp, content []byte
	for _, c := range cols {
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
	f, err := v.fetch(ctx, u, row, stamp, content)
	if err != nil {
		return doc, at, err
	}
	at, err = observers.FetchedAt(ctx, v.tx, u)
	return page.Interpret(f), at, err
}

// fetch assembles a stored fetch, and compares the body with its digests in the
// two columns that hold one.
func (v *verifier) fetch(ctx context.Context, u page.URL, row string, stamp, content []byte) (*page.Fetch, error) {
	f, sum, err := schema.DecodeContent(content)
	if err != nil {
		return nil, err
	}
	f.URL = u
	decided, err := schema.DecodeFetchStamp(stamp)
	if err != nil {
		return nil, err
	}
	v.rep.same(schema.GroupFetch, string(u), schema.FetchTime.Name+" (body digest)", digest(decided.Sum), digest(sum))
	body, err := v.tx.Get(ctx, row, schema.Body)
	if err != nil {
		return nil, err
	}
	if !body.Exists {
		if f.NeedsBody() {
			v.rep.add(schema.GroupBody, string(u), schema.Body.Name, "", "a body with the digest "+digest(sum))
		}
		return &f, nil
	}
	if f.Body, err = schema.DecodeBody(body.Data); err != nil {
		return nil, err
	}
	v.rep.same(schema.GroupBody, string(u), schema.Body.Name+" (digest)", digest(sha256.Sum256(f.Body)), digest(sum))
	return &f, nil
}

func digest(sum [32]byte) string { return fmt.Sprintf("%x", sum) }
