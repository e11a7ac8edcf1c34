package trace_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/internal/trace"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
)

// BenchmarkPage takes the same pages through two pipelines, step by step on tables in
// memory, one without a Log and one with it, alternately, so that other load of the
// machine affects both. It gives the median time of a page with the Log, and by how much
// more it is than that without. On a disk a page costs more, and the share of the Log is
// less.
func BenchmarkPage(b *testing.B) {
	without := openPipeline(b, notify.Events{})
	with := openPipeline(b, notify.Events{Tried: trace.NewLog(trace.DefaultRecords).Attempt})
	var took [2][]time.Duration
	n := 0
	for b.Loop() {
		n++
		for i := range 2 {
			at := (i + n) % 2 // who goes first changes
			begun := time.Now()
			takePage(b, []*webtest.Rig{without, with}[at], n)
			took[at] = append(took[at], time.Since(begun))
		}
	}
	b.StopTimer()
	slices.Sort(took[0])
	slices.Sort(took[1])
	a, z := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(float64(z.Nanoseconds()), "ns/page")
	b.ReportMetric(float64(z)/float64(a), "with/without")
	b.ReportMetric(0, "ns/op") // of two pages
}

func openPipeline(b *testing.B, events notify.Events) *webtest.Rig {
	b.Helper()
	r, err := webtest.Open(b.Context(), webtest.Options{Events: events})
	if err != nil {
		b.Fatal(err)
	}
	testenv.CloseAtEnd(b, r)
	return r
}

// takePage loads a page, and runs observers until all work is done.
func takePage(b *testing.B, r *webtest.Rig, n int) {
	b.Helper()
	f := &page.Fetch{
		URL: page.MustParseURL(fmt.Sprintf("https://a.example/%d", n)), Time: time.Unix(int64(n), 0), Status: 200, Header: map[string][]string{"Content-Type": {"text/html"}},
		Body: fmt.Appendf(nil, "<title>Page %d</title><p>text of number %d<a href=/%d>next</a>", n, n, n+1),
	}
	if _, err := r.Load(b.Context(), f); err != nil {
		b.Fatal(err)
	}
	if err := r.Quiesce(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
}
