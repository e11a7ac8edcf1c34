package frontier

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// beginner is a process on a table that several share.
type beginner struct {
	*Crawl
	process *sharedtest.Process
}

func newBeginners(t *testing.T, n int) (list []beginner) {
	t.Helper()
	table := sharedtest.Table(t, txn.Groups(schema.Groups()...))
	coordinator := sharedtest.New()
	for range n {
		p := coordinator.Join()
		db, err := txn.Open(t.Context(), table, txn.Options{Coordination: &txn.Coordination{Timestamps: p, Liveness: p, RowLocks: p}, Observers: func(txn.Column) []string { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil && p.Valid() == nil {
				t.Error(err)
			}
		})
		b := beginner{&Crawl{Liveness: p}, p}
		if _, err := b.Resume(t.Context(), db, true); err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	return list
}

// takes reports whether the process takes a URL, by the rules of this moment.
func (b *beginner) takes(t *testing.T, u page.URL) bool {
	t.Helper()
	tx, err := b.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	crawling, err := b.Follow(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.Decide(t.Context(), u, 1)
	if err != nil {
		t.Fatal(err)
	}
	return crawling && d.OK
}

func isMarked(t *testing.T, db *txn.DB) bool {
	t.Helper()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	v, err := tx.Get(t.Context(), schema.AppRow, schema.CrawlConfig)
	if err != nil {
		t.Fatal(err)
	}
	var form storedForm
	if err := json.Unmarshal(v.Data, &form); err != nil {
		t.Fatal(err)
	}
	return form.Beginning != ""
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFollow: a process decides by the settings that another one has stored, as soon as
// they are, and a transaction that is older does not bring the former ones back.
func TestFollow(t *testing.T) {
	list := newBeginners(t, 2)
	worker, crawler := &list[0], &list[1]
	config := Config{Scope: "host", MaxDepth: -1}
	if worker.takes(t, "https://one.example/page") {
		t.Error("a URL is taken without a crawl")
	}
	if err := crawler.Begin(t.Context(), crawler.db, config, []page.URL{"https://one.example/"}); err != nil {
		t.Fatal(err)
	}
	if !worker.takes(t, "https://one.example/page") || worker.takes(t, "https://two.example/page") {
		t.Error("the worker does not follow")
	}
	old, err := worker.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Rollback()
	if err := crawler.Begin(t.Context(), crawler.db, config, []page.URL{"https://two.example/"}); err != nil {
		t.Fatal(err)
	}
	if !worker.takes(t, "https://one.example/page") || !worker.takes(t, "https://two.example/page") {
		t.Error("the worker does not follow when seeds are added")
	}
	if _, err := worker.Follow(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if d, err := worker.Decide(t.Context(), "https://two.example/page", 1); err != nil || !d.OK {
		t.Errorf("an older transaction has brought former rules back: %v, %v", d, err)
	}
}

// TestBeginTogether: several processes begin a crawl at the same time, each with a seed
// of its own. All seeds are kept, and no mark is left.
func TestBeginTogether(t *testing.T) {
	list := newBeginners(t, 4)
	seeds := []page.URL{"https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"}
	config := Config{Scope: "host", MaxDepth: -1}
	var work sync.WaitGroup
	for i := range list {
		work.Go(func() {
			if err := list[i].Begin(context.Background(), list[i].db, config, seeds[i:i+1]); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if isMarked(t, list[0].db) {
		t.Error("a mark is left")
	}
	for _, u := range seeds {
		if !list[0].takes(t, u+"page") {
			t.Errorf("%s is not in scope", u)
		}
	}
}

// TestBeginAfterDeath: a process that died while it was beginning blocks no other, and
// if it was only suspended, it does not remove the mark of its successor.
func TestBeginAfterDeath(t *testing.T) {
	list := newBeginners(t, 2)
	dead, next := &list[0], &list[1]
	mark := encoded(t, storedForm{Config: Config{Scope: "page"}, Beginning: dead.token()})
	if marked, err := dead.mark(t.Context(), dead.db, mark); err != nil || !marked {
		t.Fatalf("mark: %t, %v", marked, err)
	}
	own := encoded(t, storedForm{Beginning: next.token()})
	if marked, err := next.mark(t.Context(), next.db, own); err != nil || marked {
		t.Errorf("marked beside a process that is alive: %t, %v", marked, err)
	}
	dead.process.Die()
	if err := next.Begin(t.Context(), next.db, Config{Scope: "host", MaxDepth: -1}, []page.URL{"https://a.example/"}); err != nil {
		t.Fatal(err)
	}
	if isMarked(t, next.db) || !next.takes(t, "https://a.example/page") {
		t.Error("the crawl has not begun")
	}
	if err := begun(t.Context(), next.db, mark, []byte("{}")); err == nil || errors.Is(err, txn.ErrConflict) {
		t.Errorf("the mark of another process was removed: %v", err)
	}
}

// TestKilledBeforeSeeds: a process is killed when it has stored the settings of the first crawl
// and none of its seeds. Other processes continue without a crawl, a new one opens the
// repository, and the next Begin succeeds.
func TestKilledBeforeSeeds(t *testing.T) {
	list := newBeginners(t, 3)
	dead, worker, next := &list[0], &list[1], &list[2]
	config := Config{Scope: "host", MaxDepth: -1}
	if marked, err := dead.mark(t.Context(), dead.db, encoded(t, storedForm{Config: config, Beginning: dead.token()})); err != nil || !marked {
		t.Fatalf("mark: %t, %v", marked, err)
	}
	dead.process.Die()
	if worker.takes(t, "https://a.example/page") {
		t.Error("a URL is taken although the crawl has no seeds")
	}
	if observers, err := next.Resume(t.Context(), next.db, false); err != nil || observers != nil || next.Rules() != nil {
		t.Fatalf("resumed %d observers of a crawl that has not begun, with the rules %v: %v", len(observers), next.Rules(), err)
	}
	if err := next.Begin(t.Context(), next.db, config, []page.URL{"https://a.example/"}); err != nil {
		t.Fatal(err)
	}
	if isMarked(t, next.db) || !next.takes(t, "https://a.example/page") || !worker.takes(t, "https://a.example/page") {
		t.Error("the crawl has not begun")
	}
}
