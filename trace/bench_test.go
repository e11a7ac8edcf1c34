package trace_test

import (
	"fmt"
	"testing"
	"time"

	"indexer/notify"
	"indexer/observers/webtest"
	"indexer/page"
	"indexer/trace"
)

// BenchmarkPage takes pages through the pipeline, step by step on a table in memory,
// without a Log and with one: the difference is what remembering costs a page, at most;
// on a disk a page costs more.
func BenchmarkPage(b *testing.B) {
	for _, c := range []struct {
		name   string
		events notify.Events
	}{{"without", notify.Events{}}, {"with", notify.Events{Tried: trace.NewLog(trace.DefaultRecords).Attempt}}} {
		b.Run(c.name, func(b *testing.B) {
			r, err := webtest.Open(b.Context(), webtest.Options{Events: c.events})
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for b.Loop() {
				n++
				f := &page.Fetch{
					URL: page.MustParseURL(fmt.Sprintf("https://a.example/%d", n)), Time: time.Unix(int64(n), 0), Status: 200, Header: map[string][]string{"Content-Type": {"text/html"}},
					Body: fmt.Appendf(nil, "<title>Page %d</title><p>text of number %d<a href=/%d>next</a>", n, n, n+1),
				}
				if _, err := r.Load(b.Context(), f); err != nil {
					b.Fatal(err)
				}
				if err := r.Settle(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
