package repository_test

import (
	"context"
	"testing"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestOlderInterpreter: a directory whose pages an older program interpreted gives the
// answers of this program after it was opened, and is interpreted again only once.
func TestOlderInterpreter(t *testing.T) {
	dir, want := filled(t)
	r := open(t, dir, repository.Options{})
	forgetAnchors(t, r)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := digestOf(t, r); got == want {
		t.Fatal("the older interpreter made no difference")
	}
	closeNow(t, r)

	r = open(t, dir, repository.Options{})
	wantSound(t, r, want)
	closeNow(t, r)

	r = open(t, dir, repository.Options{})
	if n := runs(r); n != 0 {
		t.Errorf("%d runs of observers after the second opening", n)
	}
	closeNow(t, r)
}

// forgetAnchors leaves what a program that knows no anchors would have: all links without
// them, and no version.
func forgetAnchors(t *testing.T, r *repository.Repository) {
	t.Helper()
	_, err := r.DB().Run(t.Context(), func(tx *txn.Txn) error {
		tx.Delete(schema.AppRow, schema.Interpreted)
		return tx.Scan(context.Background(), schema.GroupDoc, "", "", func(row string, cols []txn.Version) error {
			for _, c := range cols {
				if c.Name != schema.Links.Name {
					continue
				}
				links, err := schema.DecodeLinks(c.Data)
				if err != nil {
					return err
				}
				var bare []page.Link
				for _, l := range links {
					bare = append(bare, page.Link{Target: l.Target})
				}
				tx.Set(row, schema.Links, schema.EncodeLinks(schema.GroupLinks(bare)))
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}
