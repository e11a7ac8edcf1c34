package scope

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// takenFrom gives the URLs of a list that are of the site.
func takenFrom(list *[]page.URL) Taken {
	return func(_ context.Context, site string) iter.Seq2[page.URL, error] {
		return func(yield func(page.URL, error) bool) {
			for _, u := range *list {
				if u.Site() == site && !yield(u, nil) {
					return
				}
			}
		}
	}
}

// TestForgetting: Traps that keep one site in memory, and rebuild it again and again
// from the URLs taken, in any order and with repetitions, decide like Traps that forget
// nothing.
func TestForgetting(t *testing.T) {
	rnd := testenv.Random(t)
	config := specConfig()
	config.MaxQueries, config.MaxCombinations = 60, 40

	var stored []page.URL
	remembering := mustTraps(t, config, nil)
	config.MaxSites = 1
	forgetful := mustTraps(t, config, takenFrom(&stored))
	refused := 0
	for range 3000 {
		u := randomQueryURL(rnd)
		want := check(t, remembering.Check, u)
		if got := check(t, forgetful.Check, u); got != want {
			t.Fatalf("%s: %+v, want %+v", u, got, want)
		}
		if want.OK {
			stored = slices.Insert(stored, rnd.IntN(len(stored)+1), u)
		} else {
			refused++
		}
	}
	if refused == 0 || len(stored) < 100 {
		t.Errorf("%d refused, %d taken: the test tests nothing", refused, len(stored))
	}
	if !reflect.DeepEqual(remembering.Counts(), forgetful.Counts()) {
		t.Errorf("counts %v and %v", remembering.Counts(), forgetful.Counts())
	}
}

func randomQueryURL(rnd *rand.Rand) page.URL {
	url := fmt.Sprintf("https://host%d.example/path%d?p=%d", rnd.IntN(3), rnd.IntN(3), rnd.IntN(200))
	if rnd.IntN(2) == 0 {
		url += "&q=1&r=2"
	}
	return page.MustParseURL(url)
}

// TestAtMostLimit checks that every path of a site that makes up queries ends near the
// limit, and how near an estimate is.
func TestAtMostLimit(t *testing.T) {
	for _, limit := range []int{10, 32, 33, 100, 1000} {
		config := specConfig()
		config.MaxQueries = limit
		traps := mustTraps(t, config, nil)
		taken := 0
		for n := range 5 * limit {
			if check(t, traps.Check, page.URL(fmt.Sprintf("https://example.com/list?p=%d", n))).OK {
				taken++
			}
		}
		low, high := limit*7/10, limit*13/10
		if limit < exactItems {
			low, high = limit, limit
		}
		if taken < low || taken > high {
			t.Errorf("limit %d: %d taken, want %d to %d", limit, taken, low, high)
		}
	}
}

// TestManyPaths checks that a site with many more paths than cells is not refused
// for that: each of 5,000 has 3 queries.
func TestManyPaths(t *testing.T) {
	traps := mustTraps(t, specConfig(), nil)
	for n := range 15_000 {
		u := page.URL(fmt.Sprintf("https://example.com/item/%d?view=%d", n/3, n%3))
		if d := check(t, traps.Check, u); !d.OK {
			t.Fatalf("%s: %+v", u, d)
		}
	}
}

// TestSharedCells checks that paths share no count if only one of their two cells is the same.
func TestSharedCells(t *testing.T) {
	config := specConfig()
	config.MaxQueries = 3
	traps := mustTraps(t, config, nil)
	for n := range 90 {
		u := page.URL(fmt.Sprintf("https://example.com/item/%d?view=%d", n/3, n%3))
		if d := check(t, traps.Check, u); !d.OK {
			t.Fatalf("%s: %+v", u, d)
		}
	}
}

func TestDistinct(t *testing.T) {
	for _, n := range []int{1, 31, 32, 33, 100, 1000, 100_000} {
		var a, b distinct
		for i := range n {
			a.add(keyOf("/", fmt.Sprint(i)).query)
			b.add(keyOf("/", fmt.Sprint(n-1-i)).query)
			b.add(keyOf("/", fmt.Sprint(n-1-i)).query)
		}
		slices.Sort(a.items)
		slices.Sort(b.items)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%d items: order or repetition matters", n)
		}
		if off := float64(a.count()-n) / float64(n); off < -0.3 || off > 0.3 || n <= exactItems && off != 0 {
			t.Errorf("%d items are counted as %d", n, a.count())
		}
	}
}

// TestMaxSites checks that sites used last stay, and no more than allowed.
func TestMaxSites(t *testing.T) {
	config := specConfig()
	config.MaxSites = 2
	built := make(map[string]int)
	traps := mustTraps(t, config, func(_ context.Context, site string) iter.Seq2[page.URL, error] {
		built[site]++
		return func(func(page.URL, error) bool) {}
	})
	for _, host := range []string{"a", "b", "a", "c", "a", "b"} {
		check(t, traps.Check, page.URL("https://"+host+".example/?q=1"))
	}
	want := map[string]int{"https://a.example": 1, "https://b.example": 2, "https://c.example": 1}
	if !reflect.DeepEqual(built, want) {
		t.Errorf("built %v, want %v", built, want)
	}
	if n := traps.sites.order.Len(); n != 2 || len(traps.sites.sites) != 2 {
		t.Errorf("%d sites are kept", n)
	}
}

// TestTakenFails checks that an error decides nothing, and that the next use begins
// again, and not with half a count.
func TestTakenFails(t *testing.T) {
	broken := errors.New("disk on fire")
	fail := true
	config := specConfig()
	config.MaxQueries = 3
	traps := mustTraps(t, config, func(context.Context, string) iter.Seq2[page.URL, error] {
		return func(yield func(page.URL, error) bool) {
			for n := range 2 {
				if !yield(page.URL(fmt.Sprintf("https://example.com/?p=%d", n)), nil) {
					return
				}
				if fail && !yield("", broken) {
					return
				}
			}
		}
	})
	if d, err := traps.Check(context.Background(), "https://example.com/?p=9"); !errors.Is(err, broken) || d != (Decision{}) {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := traps.Check(context.Background(), "https://example.com/"); err != nil || !d.OK {
		t.Errorf("without a query there is nothing to count: %+v, %v", d, err)
	}
	fail = false
	for n, want := range []bool{true, true, true, false} {
		u := page.URL(fmt.Sprintf("https://example.com/?p=%d", n))
		if d := check(t, traps.Check, u); d.OK != want {
			t.Errorf("%s: %+v", u, d)
		}
	}
}

// TestCancel: a caller waits for a site that is being rebuilt only as long as its
// context lives, and callers for other sites do not wait at all.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocked := make(chan struct{})
		traps := mustTraps(t, specConfig(), func(_ context.Context, site string) iter.Seq2[page.URL, error] {
			return func(func(page.URL, error) bool) {
				if strings.Contains(site, "slow") {
					<-blocked
				}
			}
		})
		done := make(chan Decision)
		go func() { done <- check(t, traps.Check, "https://slow.example/?q=1") }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := traps.Check(ctx, "https://slow.example/?q=2"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		check(t, traps.Check, "https://fast.example/?q=1")
		close(blocked)
		if d := <-done; !d.OK {
			t.Errorf("%+v", d)
		}
	})
}

// TestConcurrent checks that goroutines together take no more than one alone would.
func TestConcurrent(t *testing.T) {
	config := specConfig()
	config.MaxQueries = 20
	traps := mustTraps(t, config, nil)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 100 {
				if _, err := traps.Check(context.Background(), page.URL(fmt.Sprintf("https://example.com/?p=%d.%d", g, n))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := traps.Counts()["trap.queries"]; n != 380 {
		t.Errorf("%d refused, want 380 of 400", n)
	}
}

func TestTrapConfigErrors(t *testing.T) {
	for want, change := range map[string]func(*TrapConfig){
		"MaxLength is -1":   func(c *TrapConfig) { c.MaxLength = -1 },
		"PastYears is -5":   func(c *TrapConfig) { c.PastYears = -5 },
		"MaxSites is 0":     func(c *TrapConfig) { c.MaxSites = 0 },
		"MaxSegments is -2": func(c *TrapConfig) { c.MaxSegments = -2 },
	} {
		config := DefaultTrapConfig()
		change(&config)
		if _, err := NewTraps(config, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestAllOff checks that with every threshold at 0 nothing is refused.
func TestAllOff(t *testing.T) {
	traps := mustTraps(t, TrapConfig{}, nil)
	for _, u := range []page.URL{
		"https://example.com/a/a/a/a/a/a", "https://example.com/?p=1&p=1&p=1", "https://example.com/calendar/9999/01", "https://example.com/calendar/1066/01",
		"https://example.com/;jsessionid=1", page.URL("https://example.com/" + strings.Repeat("1/2/", 1500)),
	} {
		if d := check(t, traps.Check, u); !d.OK {
			t.Errorf("%.50s: %+v", u, d)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	s, err := New(Config{Kind: Domain, MaxDepth: NoMaxDepth, Exclude: []string{`\.pdf$`}}, []page.URL{"https://example.com/"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !s.Decide("https://www.example.com/blog/2024/03/01/title-of-article?page=2", 3).OK {
			b.Fatal("out of scope")
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for name, u := range map[string]page.URL{
		"path":  "https://www.example.com/blog/2024/03/01/title-of-article",
		"query": "https://www.example.com/shop/list?colour=red&size=7&page=2",
	} {
		b.Run(name, func(b *testing.B) {
			traps := mustTraps(b, specConfig(), nil)
			b.ReportAllocs()
			for b.Loop() {
				if d, err := traps.Check(context.Background(), u); err != nil || !d.OK {
					b.Fatal(d, err)
				}
			}
		})
	}
}
