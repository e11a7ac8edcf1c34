package scalebench

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTimeline: the start and the end do not count, and calls and time are those in between.
func TestTimeline(t *testing.T) {
	begin := time.Now()
	line := func(done ...float64) *timeline {
		l := &timeline{}
		for i, n := range done {
			l.samples = append(l.samples, sample{begin.Add(time.Duration(i) * time.Second), Progress{n, Calls{Reads: 10 * n, Waited: 20 * n}}, 0})
		}
		l.kept = l.samples
		return l
	}
	l := line(0, 0, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99, 99, 100, 100)
	l.keepMiddle()
	row := l.row(Pages, 2)
	if row.PerSecond != 10 || row.Each.Reads != 10 || row.CallMS != 2 {
		t.Errorf("%.1f a second, %.1f reads each, %.1f ms a call; want 10, 10, 2", row.PerSecond, row.Each.Reads, row.CallMS)
	}
	row.scale(0.5) // two rows make a page
	if row.PerSecond != 5 || row.Each.Reads != 20 {
		t.Errorf("%.1f pages a second, %.1f reads each; want 5, 20", row.PerSecond, row.Each.Reads)
	}
	l = line(0, 1, 2, 12, 22)
	l.keepLast(2 * time.Second)
	if row := l.row(Transactions, 1); row.PerSecond != 10 {
		t.Errorf("%.1f a second, want 10", row.PerSecond)
	}
}

// TestAccounts: no two accounts are the same row.
func TestAccounts(t *testing.T) {
	seen := make(map[string]bool, accounts)
	for i := range accounts {
		seen[account(i)] = true
	}
	if len(seen) != accounts {
		t.Errorf("%d rows, want %d", len(seen), accounts)
	}
}
