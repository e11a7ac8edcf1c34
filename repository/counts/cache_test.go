package counts

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// cached is a table with a cache of its counts, in small ranges.
type cached struct {
	db    *txn.DB
	cache *Cache
}

func newCached(t *testing.T) *cached {
	t.Helper()
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &cached{cache: NewCache()}
	c.cache.cells = 8
	c.db, err = txn.Open(t.Context(), table, txn.Options{Written: c.cache.Written})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, c.db)
	return c
}

func (c *cached) at(_ context.Context, ts uint64) (*txn.Txn, error) { return c.db.At(ts), nil }

func (c *cached) read(ctx context.Context) (Counts, error) {
	return c.cache.Read(ctx, func(context.Context) (*txn.Txn, error) { return c.db.At(c.db.LastTimestamp()), nil }, c.at)
}

// check compares the cache with a scan. Nothing is written meanwhile.
func (c *cached) check(t *testing.T) {
	t.Helper()
	got, err := c.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tx := c.db.At(c.db.LastTimestamp())
	defer tx.Rollback()
	want, err := Read(t.Context(), tx)
	if err != nil || got != want {
		t.Fatalf("cached %+v\na scan %+v, %v", got, want, err)
	}
}

func (c *cached) write(ctx context.Context, fn func(tx *txn.Txn)) error {
	_, err := c.db.Run(ctx, func(tx *txn.Txn) error { fn(tx); return nil })
	return err
}

// randomWrite writes or removes a cell that is counted, of one of some fifty URLs.
func randomWrite(rnd *rand.Rand, tx *txn.Txn) {
	url := func() page.URL { return page.URL(fmt.Sprintf("https://%c.example/%d", 'a'+rnd.IntN(3), rnd.IntN(16))) }
	u := url()
	key := page.ContentKey{byte(rnd.IntN(20))}
	row, column, value := schema.URLRow(u), schema.FetchFailure, []byte(nil)
	switch rnd.IntN(8) {
	case 0:
		column = schema.FetchTime
	case 1:
	case 2, 3:
		row, column = schema.PairRow(u, url()), schema.Anchors
	case 4:
		row, column = schema.PairRow(u, url()), schema.Pointer
	case 5:
		column, value = schema.State, schema.URLState{Outcome: page.Outcome(rnd.IntN(4))}.Encode()
	case 6:
		column, value = schema.RankState, schema.StoredRankState{Inlinks: 1, In: 3 * rnd.Float64(), Out: rnd.IntN(3), Pushed: rnd.Float64(), Rank: 1}.Encode()
	case 7:
		row, column = schema.MemberRow(key, schema.MemberInfo{URL: u}), schema.Member
		if rnd.IntN(2) == 0 {
			row, column = schema.ClusterRow(key), schema.Indexed
		}
	}
	if rnd.IntN(3) == 0 {
		tx.Delete(row, column)
	} else {
		tx.Set(row, column, value)
	}
}

// TestCacheRandomly writes random cells, one or many at a time, and compares the cache with a
// scan in between, also after it was stored.
func TestCacheRandomly(t *testing.T) {
	for seed := range testenv.Seeds(t, 1, uint64(testenv.Size(5, 20, 500))) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 0))
			c := newCached(t)
			for range 60 {
				many := 1 + rnd.IntN(3)
				if rnd.IntN(10) == 0 {
					many = 100
				}
				err := c.write(t.Context(), func(tx *txn.Txn) {
					for range many {
						randomWrite(rnd, tx)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if rnd.IntN(3) > 0 {
					c.check(t)
				}
				if rnd.IntN(5) == 0 {
					if err := c.cache.Decode(c.cache.Encode(), c.db.LastTimestamp()); err != nil && len(c.cache.parts) > 0 {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// TestCacheWhileWriting counts while others write, and compares the cache with a scan when they
// have finished.
func TestCacheWhileWriting(t *testing.T) {
	rnd := testenv.Random(t)
	c := newCached(t)
	for range testenv.Size(5, 20, 200) {
		var writers sync.WaitGroup
		for range 3 {
			own := rand.New(rand.NewPCG(rnd.Uint64(), 0))
			writers.Go(func() {
				for range 20 {
					if err := c.write(t.Context(), func(tx *txn.Txn) { randomWrite(own, tx) }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range 5 {
			if _, err := c.read(t.Context()); err != nil {
				t.Error(err)
			}
		}
		writers.Wait()
		c.check(t)
	}
}

// TestCacheCountsWhatWasWritten: one link makes one range of links and one of URLs stale, and the
// rest is not counted again.
func TestCacheCountsWhatWasWritten(t *testing.T) {
	c := newCached(t)
	link := func(tx *txn.Txn, target, source int) {
		tx.Set(schema.PairRow(page.URL(fmt.Sprintf("https://a.example/%d", target)), page.URL(fmt.Sprintf("https://b.example/%d", source))), schema.Anchors, nil)
	}
	if err := c.write(t.Context(), func(tx *txn.Txn) {
		for i := range 500 {
			link(tx, i, i)
		}
	}); err != nil {
		t.Fatal(err)
	}
	c.check(t)
	if err := c.write(t.Context(), func(tx *txn.Txn) { link(tx, 250, 1) }); err != nil {
		t.Fatal(err)
	}
	for name, r := range c.cache.parts {
		want := 0
		if name == "links" || name == "urls" {
			want = 1
		}
		if got := len(r.staleSpans()); got != want || want > 0 && len(r.list) < 60 {
			t.Errorf("%s: %d of %d ranges are stale, want %d", name, got, len(r.list), want)
		}
	}
	c.check(t)
}

// TestCacheOfPopularTarget counts a target that has more rows than a scan of targets reads, and those
// after it.
func TestCacheOfPopularTarget(t *testing.T) {
	c := newCached(t)
	const popular, more = page.URL("https://a.example/"), 50
	err := c.write(t.Context(), func(tx *txn.Txn) {
		for i := range manyRows + more {
			tx.Set(schema.PairRow(popular, page.URL(fmt.Sprintf("https://b.example/%d", i))), schema.Anchors, nil)
		}
		tx.Set(schema.PairRow(popular+"next", popular), schema.Anchors, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.read(t.Context())
	if err != nil || got.URLs != 2 || got.Links != manyRows+more+1 {
		t.Errorf("%d URLs and %d links, %v", got.URLs, got.Links, err)
	}
}

// TestCacheUnites keeps no more ranges than it may. A range is as old as the oldest that it was
// made of, and stale if one of them was.
func TestCacheUnites(t *testing.T) {
	r := newRanges(8)
	list := make([]rowRange, 2*maxRanges+1)
	for i := range list {
		list[i] = rowRange{counted: 2}
		if i > 0 {
			list[i].start = fmt.Sprintf("%07d", i)
		}
		list[i].tally[links] = 1
	}
	list[5].counted, list[21].stale = 1, true
	sum := r.replace(r.staleSpans(), [][]rowRange{list})
	if len(r.list) > maxRanges || r.size != 32 || int(sum[links]) != len(list) || r.stale != 1 {
		t.Errorf("%d ranges of %d cells, %d of them stale, %d links", len(r.list), r.size, r.stale, sum[links])
	}
	r.write("0000006", 2) // which 5 has not counted
	r.write("0000010", 2)
	if spans := r.staleSpans(); !slices.Equal(spans, []span{{"0000004", "0000008"}, {"0000020", "0000024"}}) {
		t.Errorf("stale are %v", spans)
	}
}

// FuzzDecode: whatever Decode accepts, Encode returns.
func FuzzDecode(f *testing.F) {
	c := NewCache()
	c.parts["links"] = newRanges(rangeCells)
	c.parts["links"].list = append(c.parts["links"].list, rowRange{start: "b", tally: tally{links: 3}})
	f.Add(c.Encode())
	f.Add([]byte{})
	f.Add(bytes.Replace(c.Encode(), []byte("links"), []byte("knots"), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := NewCache()
		if c.Decode(b, 1) != nil {
			return
		}
		again := NewCache()
		if err := again.Decode(c.Encode(), 1); err != nil && len(c.parts) > 0 {
			t.Error(err)
		}
	})
}
