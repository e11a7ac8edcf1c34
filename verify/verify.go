package verify

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"indexer/batch"
	"indexer/observers"
	"indexer/page"
	"indexer/repository"
	"indexer/schema"
	"indexer/txn"
)

// Run verifies a repository. An error means that it could not be verified; what
// differs is in the report.
func Run(ctx context.Context, r *repository.Repository) (*Report, error) {
	q, err := r.Quiet(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	rep, err := compare(ctx, q)
	if err := cmp.Or(err, q.Close()); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return rep, nil
}

func compare(ctx context.Context, q *repository.Quiet) (*Report, error) {
	v := &verifier{
		tx:  q.Tx,
		rep: &Report{SnapshotTS: q.Tx.Start(), Checked: make(map[string]int), Differences: []Difference{}},
	}
	if err := v.computeBatch(ctx); err != nil {
		return nil, err
	}
	steps := []func(context.Context) error{
		v.compareURLs, v.compareTexts, v.compareMembers, v.compareLinks, v.compareLeads, v.compareIndexed,
		func(ctx context.Context) error { return v.compareFiles(ctx, q.Index) },
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return v.rep, nil
}

type verifier struct {
	tx    *txn.Txn
	batch *batch.Repository
	rep   *Report
}

// computeBatch reads all fetches in force and computes what they mean.
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
	v.batch = b.Finish(nil)
	return err
}

// interpret makes a document of the columns of a stored fetch.
func (v *verifier) interpret(ctx context.Context, u page.URL, row string, cols []txn.Version) (doc page.Document, at time.Time, err error) {
	var content []byte
	for _, c := range cols {
		switch c.Name {
		case schema.FetchContent.Name:
			content = c.Data
		case schema.FetchFailure.Name:
			doc.Outcome = page.Failed
		}
	}
	if content == nil {
		return doc, at, nil
	}
	f, _, err := schema.DecodeContent(content)
	if err != nil {
		return doc, at, err
	}
	body, err := v.tx.Get(ctx, row, schema.Body)
	if err != nil {
		return doc, at, err
	}
	if body.Exists {
		if f.Body, err = schema.DecodeBody(body.Data); err != nil {
			return doc, at, err
		}
	}
	f.URL = u
	at, err = observers.FetchedAt(ctx, v.tx, u)
	return page.Interpret(&f), at, err
}
