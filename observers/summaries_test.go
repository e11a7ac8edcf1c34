package observers

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// bare returns a table with nothing but what a test writes there.
func bare(t *testing.T) *txn.DB {
	t.Helper()
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := txn.Open(t.Context(), table, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, db)
	return db
}

func write(t *testing.T, db *txn.DB, fn func(*txn.Txn) error) {
	t.Helper()
	if _, err := db.Run(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// memberRow returns the row of a member with this number.
func memberRow(key page.ContentKey, i int) string {
	u := page.MustParseURL(fmt.Sprintf("https://m.example/%d", i))
	return schema.MemberRow(key, schema.MemberInfo{URL: u, Eligible: true})
}

// renewIn renews the summaries of a cluster at a member row, "" for all that are incomplete.
func renewIn(ctx context.Context, tx *txn.Txn, key page.ContentKey, row string) error {
	s, err := readSummaries(ctx, tx, key)
	if err != nil {
		return err
	}
	m, err := readMembers(ctx, tx, key)
	if err != nil {
		return err
	}
	b := cluster.NewBudget(cluster.Limits{}, 1)
	if len(s.Parts) == 0 {
		s.Begin(b)
	}
	_, at := schema.SplitMemberRow(row)
	r, err := s.Renew(ctx, m, b, []string{at})
	if err != nil {
		return err
	}
	writeRenewal(tx, key, r)
	return nil
}

// summaryDifferences returns what CheckSummaries reports.
func summaryDifferences(t *testing.T, db *txn.DB) (list []string) {
	t.Helper()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	_, err = CheckSummaries(t.Context(), tx, cluster.Limits{Giant: 2}, func(row, stored, computed string) {
		list = append(list, fmt.Sprintf("%q is %s, not %s", row, stored, computed))
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSummariesConflict: of two runs that renew the same summary at once, one is repeated,
// even if the other finds the summary unchanged. Otherwise a member that comes and goes would
// stay counted: the run that has seen it commits after the one that has seen it gone.
func TestSummariesConflict(t *testing.T) {
	t.Parallel()
	db, key := bare(t), page.ContentKey{7}
	write(t, db, func(tx *txn.Txn) error {
		for i := range 5 {
			tx.Set(memberRow(key, i), schema.Member, nil)
		}
		return nil
	})
	renew := func(tx *txn.Txn) error { return renewIn(t.Context(), tx, key, memberRow(key, 9)) }
	write(t, db, renew)
	write(t, db, func(tx *txn.Txn) error {
		tx.Set(memberRow(key, 9), schema.Member, nil)
		return nil
	})
	slow, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Rollback()
	if err := renew(slow); err != nil {
		t.Fatal(err)
	}
	write(t, db, func(tx *txn.Txn) error {
		tx.Delete(memberRow(key, 9), schema.Member)
		return nil
	})
	write(t, db, renew)
	if _, err := slow.Commit(t.Context()); !errors.Is(err, txn.ErrConflict) {
		t.Errorf("the run that has seen the member commits: %v", err)
	}
	if diff := summaryDifferences(t, db); diff != nil {
		t.Errorf("after both runs: %q", diff)
	}
}

// TestCheckSummaries: the check finds a summary that is wrong, summaries of a cluster that is
// too small, and summaries of no cluster.
func TestCheckSummaries(t *testing.T) {
	t.Parallel()
	key := page.ContentKey{7}
	for name, damage := range map[string]func(tx *txn.Txn){
		"": func(*txn.Txn) {},
		"wrong": func(tx *txn.Txn) {
			tx.Set(schema.SummaryRow(key, ""), schema.Summary, schema.StoredSummary{Members: 4}.Encode())
		},
		"a member that nobody has counted": func(tx *txn.Txn) { tx.Set(memberRow(key, 9), schema.Member, nil) },
		"no cluster": func(tx *txn.Txn) {
			tx.Set(schema.SummaryRow(page.ContentKey{8}, ""), schema.Summary, schema.StoredSummary{}.Encode())
		},
		"no first summary": func(tx *txn.Txn) {
			_, at := schema.SplitMemberRow(memberRow(key, 3))
			tx.Set(schema.SummaryRow(page.ContentKey{6}, at), schema.Summary, schema.StoredSummary{}.Encode())
		},
		"too small": func(tx *txn.Txn) {
			small := page.ContentKey{9}
			tx.Set(memberRow(small, 1), schema.Member, nil)
			tx.Set(schema.SummaryRow(small, ""), schema.Summary, schema.StoredSummary{Members: 1}.Encode())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := bare(t)
			write(t, db, func(tx *txn.Txn) error {
				for i := range 5 {
					tx.Set(memberRow(key, i), schema.Member, nil)
				}
				return nil
			})
			write(t, db, func(tx *txn.Txn) error { return renewIn(t.Context(), tx, key, memberRow(key, 0)) })
			write(t, db, func(tx *txn.Txn) error { damage(tx); return nil })
			if diff := summaryDifferences(t, db); (len(diff) > 0) != (name != "") {
				t.Errorf("differences %q", diff)
			}
		})
	}
}

// TestFullBatchOfRerank: the budget of a full batch suffices for a cluster.
func TestFullBatchOfRerank(t *testing.T) {
	t.Parallel()
	if cluster.NewBudget(cluster.Limits{}, rerankBatch).Spent() {
		t.Errorf("the budget for %d positions is spent before the first", rerankBatch)
	}
}
