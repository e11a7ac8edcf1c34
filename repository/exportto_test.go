package repository_test

import (
	"testing"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestReindexMovedChoice: the choice of a canonical URL moves, and the index files are rebuilt before
// index:doc says so. When the choice moves back, nothing but index:doc tells which documents are to be
// exported once more. So the rebuild has them exported.
func TestReindexMovedChoice(t *testing.T) {
	dir, want := filled(t)
	r := open(t, dir, repository.Options{})
	defer closeNow(t, r)
	before := make(map[string]string) // index:doc of clusters with several members, by row
	err := r.DB().View(t.Context(), func(tx *txn.Txn) error {
		return tx.Scan(t.Context(), schema.GroupIndex, "", "", func(row string, cols []txn.Version) error {
			d, err := schema.DecodeIndexed(cols[0].Data)
			if err == nil && d.Members > 1 {
				before[row] = string(cols[0].Data)
			}
			return err
		})
	})
	if err != nil || len(before) == 0 {
		t.Fatalf("%d clusters with several members, %v", len(before), err)
	}
	_, err = r.DB().Run(t.Context(), func(tx *txn.Txn) error {
		for row, data := range before {
			d, err := schema.DecodeIndexed([]byte(data))
			if err != nil {
				return err
			}
			d.URL += "-of-another-member"
			tx.Set(row, schema.Indexed, d.Encode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	load(t, r, 1, []page.Fetch{})
	err = r.DB().View(t.Context(), func(tx *txn.Txn) error {
		for row, data := range before {
			v, err := tx.Get(t.Context(), row, schema.Indexed)
			if err != nil {
				return err
			}
			if string(v.Data) != data {
				t.Errorf("cluster %x was not exported again", row[:6])
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	wantSound(t, r, want)
}
