package recoverybench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// steady are events of a row and half a page a tenth of a second, without those between two moments.
func steady(from, to, end time.Duration) (list []event) {
	for at, i := 100*time.Millisecond, int64(0); at <= end; at, i = at+100*time.Millisecond, i+1 {
		e := event{at: at}
		if at <= from || at >= to {
			e.rows, e.pages = 1, i%2
		}
		list = append(list, e)
	}
	return list
}

func TestRates(t *testing.T) {
	list := intervals(steady(2*time.Second, 4*time.Second, 6*time.Second), time.Second, 5500*time.Millisecond)
	var got []int
	for _, i := range list {
		got = append(got, int(i.Rows+0.5))
	}
	want := []int{9, 10, 1, 0, 10, 10} // the first event is at 0.1 s; the last interval is half as long
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if rows, pages := rate(nil, time.Second, time.Second); rows != 0 || pages != 0 {
		t.Errorf("no time: %g rows, %g pages", rows, pages)
	}
}

func TestLongestPause(t *testing.T) {
	events := steady(2*time.Second, 4*time.Second, 6*time.Second)
	for _, tt := range []struct{ from, to, want time.Duration }{
		{0, time.Second, 100 * time.Millisecond},
		{0, 10 * time.Second, 2 * time.Second},
		{1900 * time.Millisecond, 3 * time.Second, 2 * time.Second}, // it ends later
		{3 * time.Second, 3500 * time.Millisecond, 2 * time.Second}, // it began earlier and ends later
		{4500 * time.Millisecond, 5 * time.Second, 100 * time.Millisecond},
		{7 * time.Second, 8 * time.Second, 0}, // unknown
	} {
		if got := longestPause(events, tt.from, tt.to); got != tt.want {
			t.Errorf("from %v to %v: %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}

// TestFailure: each loss is named.
func TestFailure(t *testing.T) {
	good := Check{Documents: 3, Digest: "a", Embedded: "a", IndexFiles: 3}
	if err := good.failure(); err != nil {
		t.Errorf("nothing is lost: %v", err)
	}
	for want, spoil := range map[string]func(*Check){
		"the digest":      func(c *Check) { c.Digest = "b" },
		"gave up on 1":    func(c *Check) { c.Dead = 1 },
		"2 differences":   func(c *Check) { c.Differences = 2 },
		"the index files": func(c *Check) { c.IndexFiles = 0 },
	} {
		c := good
		spoil(&c)
		if err := c.failure(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
