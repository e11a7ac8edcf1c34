package scalebench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain also serves as a worker's process whose reports cannot be read.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "scaling-worker" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		fmt.Println(`{"done":1}` + "\nno report")
		<-ctx.Done()
		return
	}
	goleak.VerifyTestMain(m)
}

// TestUnreadableReport: a worker whose report cannot be read is told to end at once.
func TestUnreadableReport(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	reports := 0
	w := &worker{report: func(Progress) { reports++ }}
	err := w.process(ctx, "")
	if err == nil || !strings.Contains(err.Error(), "read what a worker reports") || ctx.Err() != nil || reports != 1 {
		t.Errorf("after %d reports: %v, %v", reports, err, ctx.Err())
	}
}

// TestWhile: whoever fails or ends first, the work has ended when while returns.
func TestWhile(t *testing.T) {
	broken := errors.New("broken")
	fail := func(context.Context) error { return broken }
	succeed := func(context.Context) error { return nil }
	end := func(ctx context.Context) error { <-ctx.Done(); return nil } // as workers do
	wait := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	over, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	for name, c := range map[string]struct {
		ctx         context.Context
		work, watch func(context.Context) error
		want        error
	}{
		"done":        {t.Context(), end, succeed, nil},
		"watch fails": {t.Context(), end, fail, broken},
		"work fails":  {t.Context(), fail, wait, broken},
		"cancelled":   {over, end, wait, broken},
	} {
		ended := false
		err := while(c.ctx, func(ctx context.Context) error {
			defer func() { ended = true }()
			return c.work(ctx)
		}, c.watch)
		if !ended || !errors.Is(err, c.want) {
			t.Errorf("%s: ended %v, %v; want %v", name, ended, err, c.want)
		}
	}
}

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

// TestCompare: efficiency is throughput by worker, adjusted to calls as long as those of the first row.
func TestCompare(t *testing.T) {
	first := Row{Workers: 2, PerSecond: 100, CallMS: 2}
	for _, c := range []struct{ row, want Row }{
		{first, Row{Efficiency: 1, Adjusted: 1}},
		{Row{Workers: 8, PerSecond: 200, CallMS: 3}, Row{Efficiency: 0.5, Adjusted: 0.75}},
		{Row{Workers: 4, PerSecond: 300, CallMS: 2}, Row{Efficiency: 1.5, Adjusted: 1.5}},
	} {
		if c.row.compare(first); c.row.Efficiency != c.want.Efficiency || c.row.Adjusted != c.want.Adjusted {
			t.Errorf("%+v, want %+v", c.row, c.want)
		}
	}
	unknown := Row{Workers: 1, PerSecond: 10}
	if unknown.compare(unknown); unknown.Efficiency != 1 || unknown.Adjusted != 0 {
		t.Errorf("calls of unknown duration: %+v", unknown)
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
