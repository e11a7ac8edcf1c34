package observers_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestVisits visits members and inlinks of a cluster in pages of every size, with a
// transaction for each page, and compares with a visit at once. The cluster is read whole, or
// has summaries.
func TestVisits(t *testing.T) {
	for _, giant := range []int{1, 1000} {
		t.Run(fmt.Sprint("giant from ", giant), func(t *testing.T) {
			testVisits(t, observers.Limits{Cluster: cluster.Limits{Giant: giant}})
		})
	}
}

func testVisits(t *testing.T, limits observers.Limits) {
	r := openStepRigOf(t, webtest.Options{Limits: limits})
	for i := range 7 {
		rest := ""
		for k := range i { // links inside the cluster, which do not count
			rest += fmt.Sprintf("<area href=%q alt=inside>", numbered(k))
		}
		r.load(pageAt(numbered(i), 1, "alike", rest))
	}
	for i := 10; i < 15; i++ { // nothing leads to 6
		r.load(pageAt(numbered(i), 1, fmt.Sprint("source ", i), fmt.Sprintf(
			"<area href=%[1]q alt=one><area href=%[1]q alt=two><area href=%[1]q alt=three><area href=%[2]q alt=one>", numbered(i%6), numbered((i+3)%6))))
	}
	r.settle()
	tx, err := r.DB.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	way, err := observers.WayOf(t.Context(), tx, numbered(0))
	if err != nil {
		t.Fatal(err)
	}
	head, err := observers.ReadHead(t.Context(), tx, way.Cluster)
	if err != nil || head.Members != 7 || head.Canonical == "" || head.Text.Text == "" || head.FetchedAt.IsZero() || head.Rank <= 7*0.15 {
		t.Errorf("head %+v, %v", head, err)
	}
	inCluster := func(tx *txn.Txn, from observers.Cursor, limit int, add func(string)) (observers.Cursor, error) {
		return observers.VisitMembers(t.Context(), tx, way.Cluster, from, limit, func(m schema.MemberInfo) error {
			add(string(m.URL))
			return nil
		})
	}
	members := visit(t, tx, 100, inCluster)
	if len(members) != 7 || members[0] != "https://n.example/0" {
		t.Errorf("members %q", members)
	}
	cluster := func(tx *txn.Txn, from observers.Cursor, limit int, add func(string)) (observers.Cursor, error) {
		return observers.VisitClusterInlinks(t.Context(), tx, way.Cluster, from, limit, adder(add))
	}
	all := visit(t, tx, 100, cluster)
	if len(all) != 20 || !slices.IsSorted(all) {
		t.Errorf("%d inlinks %q", len(all), all)
	}
	if _, err := observers.VisitMembers(t.Context(), tx, way.Cluster, "?", 1, nil); !errors.Is(err, observers.ErrCursor) {
		t.Errorf("a cursor that is none: %v", err)
	}
	if _, err := observers.VisitClusterInlinks(t.Context(), tx, way.Cluster, "AAAAgA", 1, nil); !errors.Is(err, observers.ErrCursor) {
		t.Errorf("a cursor that is none: %v", err)
	}
	for limit := 1; limit < 25; limit++ {
		if list := visit(t, tx, limit, inCluster); !slices.Equal(list, members) {
			t.Errorf("in pages of %d: %q, want %q", limit, list, members)
		}
		if list := visit(t, tx, limit, cluster); !slices.Equal(list, all) {
			t.Errorf("in pages of %d: %q, want %q", limit, list, all)
		}
	}

	// A link that has lost anchors between two pages: the rest is still visited once.
	next, err := cluster(tx, "", 2, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	r.load(pageAt(numbered(12), 2, "source 12", fmt.Sprintf("<area href=%q alt=one><area href=%q alt=one>", numbered(0), numbered(3))))
	r.settle()
	later, err := r.DB.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer later.Rollback()
	var rest []string
	if _, err := cluster(later, next, 100, func(s string) { rest = append(rest, s) }); err != nil || !slices.Equal(rest, all[3:]) {
		t.Errorf("after a change: %q, %v; want %q", rest, err, all[3:])
	}
}

func adder(add func(string)) func(observers.Inlink) error {
	return func(l observers.Inlink) error {
		add(fmt.Sprint(l.Target, " ", l.Source, " ", l.Anchor))
		return nil
	}
}

type visitPage func(tx *txn.Txn, from observers.Cursor, limit int, add func(string)) (observers.Cursor, error)

// visit goes through a list in pages, and checks that none is too long.
func visit(t *testing.T, tx *txn.Txn, limit int, page visitPage) (list []string) {
	t.Helper()
	for from, pages := observers.Cursor(""), 0; ; pages++ {
		before := len(list)
		next, err := page(tx, from, limit, func(s string) { list = append(list, s) })
		if err != nil {
			t.Fatal(err)
		}
		if n := len(list) - before; n > limit || next != "" && n < limit || pages > 50 {
			t.Fatalf("page %d of %d, limit %d, next %q", pages, n, limit, next)
		}
		if next == "" {
			return list
		}
		from = next
	}
}
