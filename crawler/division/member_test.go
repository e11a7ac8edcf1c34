package division

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/crawler/partition"
	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var anything = txn.Column{Group: Group, Name: "anything"}

// crawler is a Crawler that has something under way for its hosts while busy.
type crawler struct {
	mu       sync.Mutex
	held     map[int]bool
	leaving  []int
	busy     bool
	woken    []string
	accepted []string
	failed   error
}

func (c *crawler) Gain(parts []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range parts {
		c.held[p] = true
	}
}

func (c *crawler) Release(parts []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = append(c.leaving, parts...)
}

func (c *crawler) Released() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		return nil
	}
	parts := c.leaving
	c.leaving = nil
	for _, p := range parts {
		delete(c.held, p)
	}
	return parts
}

func (c *crawler) Wake(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.woken = append(c.woken, host)
}

func (c *crawler) Accept(file []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted = append(c.accepted, string(file))
	return nil
}

func (c *crawler) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
}

// got returns the messages to the crawler, and its error.
func (c *crawler) got() (woken, accepted []string, failed error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.woken), slices.Clone(c.accepted), c.failed
}

func (c *crawler) holds(p int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held[p]
}

func (c *crawler) setBusy(busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = busy
}

func (c *crawler) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held)
}

type rig struct {
	t           *testing.T
	table       store.Table
	coordinator *sharedtest.Coordinator
	flaky       bool // members may fail
}

type process struct {
	*Member
	crawler *crawler
	process *sharedtest.Process
}

func newRig(t *testing.T) *rig {
	return &rig{t: t, table: sharedtest.Table(t, txn.Groups(Group)), coordinator: sharedtest.New()}
}

// join starts a crawler in a process of its own.
func (r *rig) join() *process {
	r.t.Helper()
	own := r.coordinator.Join()
	p := &process{crawler: &crawler{held: make(map[int]bool)}, process: own}
	db, err := txn.Open(r.t.Context(), r.table, txn.Options{Coordination: &txn.Coordination{Timestamps: own, Liveness: own, RowLocks: own}})
	if err != nil {
		r.t.Fatal(err)
	}
	failed := func(err error) {
		if p.process.Valid() != nil && errors.Is(err, txn.ErrConflict) {
			return // it died while it read the table
		}
		if !r.flaky {
			r.t.Error(err)
		}
	}
	if p.Member, err = Join(r.t.Context(), db, p.process, Options{Failed: failed}); err != nil {
		r.t.Fatal(err)
	}
	p.Start(r.t.Context(), p.crawler)
	return p
}

func (r *rig) leave(p *process, wantOthers bool) {
	r.t.Helper()
	others, err := p.Leave(context.Background())
	if err != nil || others != wantOthers {
		r.t.Errorf("leave: others %t, %v", others, err)
	}
	if err := p.db.Close(); err != nil && p.process.Valid() == nil {
		r.t.Error(err)
	}
}

// TestShares: partitions move to one that joins once their holder is done with them, and
// back when it dies; what a dead one commits is refused.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		one := r.join()
		time.Sleep(3 * time.Second)
		if n := one.crawler.count(); n != partition.Count {
			t.Fatalf("the only crawler has %d partitions", n)
		}
		hosts := []string{"http://a.example", "http://b.example", "http://c.example", "http://d.example", "http://e.example", "http://f.example"}
		outlived := make(map[string]*txn.Txn)
		for _, h := range hosts {
			outlived[h] = begin(t, one, h)
		}
		one.crawler.setBusy(true)
		two := r.join()
		time.Sleep(3 * time.Second)
		for _, h := range hosts {
			if err := one.Forward(t.Context(), h, page.URL(h+"/sitemap.xml"), []byte(h)); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(3 * time.Second)
		if a, b := one.crawler.count(), two.crawler.count(); a != partition.Count || b != 0 {
			t.Errorf("while requests are under way they have %d and %d partitions", a, b)
		}
		one.crawler.setBusy(false)
		time.Sleep(3 * time.Second)
		if a, b := one.crawler.count(), two.crawler.count(); a+b != partition.Count || b < partition.Count/4 || a < partition.Count/4 {
			t.Errorf("they have %d and %d partitions", a, b)
		}
		r.wantListed(map[*process]int{one: one.crawler.count(), two: two.crawler.count()}, 0)
		if !one.Since().Equal(two.Since()) {
			t.Errorf("one says that the crawl began at %v, the other at %v", one.Since(), two.Since())
		}
		host := ""
		for _, h := range hosts {
			moved := two.crawler.holds(partition.Of(h))
			if moved {
				host = h
			}
			wantOutlived(t, outlived[h], one, h, moved)
			p := one
			if moved {
				p = two
			}
			if _, accepted, _ := p.crawler.got(); !slices.Contains(accepted, h) {
				t.Errorf("the holder of %s got %q", h, accepted)
			}
		}
		tx := begin(t, two, host)
		two.process.Die()
		time.Sleep(3 * time.Second)
		if n := one.crawler.count(); n != partition.Count {
			t.Errorf("after the death of the other one it has %d partitions", n)
		}
		if _, _, failed := two.crawler.got(); failed == nil {
			t.Error("the dead one crawls on")
		}
		if _, err := tx.Commit(t.Context()); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("a transaction of the dead one: %v, want a conflict", err)
		}
		tx = begin(t, one, host)
		if _, err := tx.Commit(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := one.db.Run(t.Context(), func(tx *txn.Txn) error { return Notify(t.Context(), tx, host) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if woken, _, _ := one.crawler.got(); !slices.Equal(woken, []string{host}) {
			t.Errorf("woken %q, want %s", woken, host)
		}
		r.leave(two, true)
		r.wantListed(map[*process]int{one: partition.Count}, 0)
		r.leave(one, false)
		r.wantListed(nil, partition.Count)
	})
}

// wantListed: List shows these crawlers with these numbers of partitions.
func (r *rig) wantListed(want map[*process]int, free int) {
	r.t.Helper()
	l, err := List(r.t.Context(), r.table)
	if err != nil {
		r.t.Fatal(err)
	}
	if l.Free != free || len(l.Held) != len(want) || len(l.Crawlers) != len(want) {
		r.t.Errorf("listed: %+v, want %d crawlers and %d free partitions", l, len(want), free)
	}
	for p, n := range want {
		token := p.process.Token()
		if s, ok := l.Crawlers[token]; !ok || s.Since.IsZero() || l.Held[token] != n {
			r.t.Errorf("crawler %s is listed as %+v with %d partitions, want %d", token, s, l.Held[token], n)
		}
	}
}

// begin begins a transaction about a host.
func begin(t *testing.T, p *process, host string) *txn.Txn {
	t.Helper()
	tx, err := p.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Guard(t.Context(), tx, host, "x"); err != nil {
		t.Fatal(err)
	}
	tx.Set("row of "+host, anything, nil)
	return tx
}

// wantOutlived: a transaction that began before the partition of its host moved has a conflict, and
// no other one may begin, whatever its salt.
func wantOutlived(t *testing.T, tx *txn.Txn, p *process, host string, moved bool) {
	t.Helper()
	if _, err := tx.Commit(t.Context()); errors.Is(err, txn.ErrConflict) != moved {
		t.Errorf("moved: %t; the transaction about %s: %v", moved, host, err)
	}
	if !moved {
		return
	}
	for salt := range 10 * fences {
		tx, err := p.db.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Guard(t.Context(), tx, host, strconv.Itoa(salt)); !errors.Is(err, ErrNotHeld) {
			t.Errorf("the former holder of %s, salt %d: %v, want %v", host, salt, err, ErrNotHeld)
		}
		tx.Rollback()
	}
}

// TestMessages: each message comes to the holder, once; and the crawl is finished when all
// are idle and no message is left.
func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		one := r.join()
		time.Sleep(3 * time.Second)
		ring := func() {
			t.Helper()
			if _, err := one.db.Run(t.Context(), func(tx *txn.Txn) error { return Notify(t.Context(), tx, "http://a.example") }); err != nil {
				t.Fatal(err)
			}
		}
		finished := func(want bool) {
			t.Helper()
			if is, err := one.Finished(t.Context()); err != nil || is != want {
				t.Errorf("finished: %t, %v", is, err)
			}
		}
		finished(false)
		if err := one.SetIdle(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if err := one.Forward(t.Context(), "http://b.example", "http://b.example/sitemap.xml", []byte("a file")); err != nil {
			t.Fatal(err)
		}
		finished(false)
		ring()
		ring()
		finished(false)
		time.Sleep(3 * time.Second)
		ring()
		time.Sleep(3 * time.Second)
		if woken, accepted, _ := one.crawler.got(); len(woken) != 2 || len(accepted) != 1 || accepted[0] != "a file" {
			t.Errorf("woken %v, accepted %v", woken, accepted)
		}
		finished(true)
		r.leave(one, false)
	})
}

// silent is a table that, once asked to, carries out the commit of one removed row of a kind, and
// from then on answers nothing until it is well.
type silent struct {
	store.Table
	kind  string // prefix of the row
	state atomic.Int32
	row   atomic.Value // of the removal
}

const (
	well    = iota
	waiting // for the prewrite
	locked  // waiting for the commit
	sick
)

var errNoAnswer = errors.New("no answer")

func (s *silent) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	row := string(m.Row)
	switch {
	case s.state.Load() == sick:
		return store.Result{Outcome: store.Unknown}, errNoAnswer
	case strings.HasPrefix(row, s.kind) && s.state.CompareAndSwap(waiting, locked):
		s.row.Store(row)
	case s.row.Load() == row && s.state.CompareAndSwap(locked, sick):
		_, err := s.Table.Mutate(ctx, m)
		return store.Result{Outcome: store.Unknown}, errors.Join(errNoAnswer, err)
	}
	return s.Table.Mutate(ctx, m)
}

func (s *silent) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if s.state.Load() == sick {
		return nil, errNoAnswer
	}
	return s.Table.Read(ctx, row, sel...)
}

// TestMessageOfUnknownFate: a host is woken, and a file accepted, even if its crawler does not learn
// that it has removed the message: nothing else would tell it about the host, and the file would not
// be read before the next day.
func TestMessageOfUnknownFate(t *testing.T) {
	for _, kind := range []string{hostPrefix, filePrefix} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			table := &silent{Table: r.table, kind: kind}
			r.table, r.flaky = table, true
			p := r.join()
			time.Sleep(2500 * time.Millisecond) // the crawler is between two looks at the table
			if _, err := p.db.Run(t.Context(), func(tx *txn.Txn) error { return Notify(t.Context(), tx, "http://a.example") }); err != nil {
				t.Fatal(err)
			}
			if err := p.Forward(t.Context(), "http://b.example", "http://b.example/sitemap.xml", []byte("a file")); err != nil {
				t.Fatal(err)
			}
			table.state.Store(waiting)
			time.Sleep(3 * time.Second)
			if state := table.state.Load(); state != sick {
				t.Errorf("the message was not removed: %d", state)
			}
			table.state.Store(well)
			time.Sleep(3 * time.Second)
			woken, accepted, _ := p.crawler.got()
			if !slices.Equal(woken, []string{"http://a.example"}) || !slices.Equal(accepted, []string{"a file"}) {
				t.Errorf("%q: woken %q, accepted %q", kind, woken, accepted)
			}
			r.leave(p, false)
		})
	}
}

// TestGivenBackWithUnknownFate: a crawler does not learn that it has given partitions back, and gets
// them again because the one that should have them dies. Until then it asks no hosts of them, and
// afterwards it is their holder again, so that the crawl can end.
func TestGivenBackWithUnknownFate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		table := &silent{Table: r.table, kind: partitionPrefix}
		r.table, r.flaky = table, true
		one := r.join()
		time.Sleep(2500 * time.Millisecond)
		two := r.join()
		table.state.Store(waiting)
		time.Sleep(3 * time.Second)
		if state := table.state.Load(); state != sick {
			t.Errorf("no partition was given back: %d", state)
		}
		if n := one.crawler.count(); n > partition.Count-atOnce {
			t.Errorf("a crawler asks the hosts of %d partitions", n)
		}
		two.process.Die()
		table.state.Store(well)
		time.Sleep(5 * time.Second)
		if n := one.crawler.count(); n != partition.Count {
			t.Errorf("the only crawler asks the hosts of %d partitions", n)
		}
		r.wantListed(map[*process]int{one: partition.Count}, 0)
		r.leave(two, true)
		r.leave(one, false)
	})
}
