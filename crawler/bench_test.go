package crawler

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// endless is a frontier and a web of hosts with as many pages as the benchmark wants.
// All answer at once, so the benchmark measures only the engine.
type endless struct {
	hosts int
	left  atomic.Int64
}

func (e *endless) Hosts(_ context.Context, after string, n int) ([]string, error) {
	var hosts []string
	for i := range e.hosts {
		if h := fmt.Sprintf("https://h%06d.example", i); h > after && len(hosts) < n {
			hosts = append(hosts, h)
		}
	}
	return hosts, nil
}

func (e *endless) Due(_ context.Context, host string, _ time.Time, n int) ([]Job, time.Time, error) {
	var jobs []Job
	for range n {
		i := e.left.Add(-1)
		if i < 0 {
			break
		}
		jobs = append(jobs, Job{URL: page.URL(fmt.Sprintf("%s/%d", host, i))})
	}
	return jobs, time.Time{}, nil
}

func (e *endless) Visited(_ context.Context, v Visit) error {
	v.Next(true)
	return nil
}
func (e *endless) Refuse(context.Context, Refusal) error             { return nil }
func (e *endless) Readmit(context.Context, []page.URL, string) error { return nil }
func (e *endless) Known(context.Context, string, page.URL, int) ([]Known, page.URL, error) {
	return nil, "", nil
}
func (e *endless) Add(context.Context, Finding) (Added, error)      { return Added{}, nil }
func (e *endless) LoadHost(context.Context, string) ([]byte, error) { return nil, nil }
func (e *endless) SaveHost(context.Context, string, []byte) error   { return nil }
func (e *endless) Fetch(_ context.Context, r fetch.Request) (res fetch.Result) {
	res.Fetch = page.Fetch{URL: r.URL, Time: time.Now(), Status: 200}
	return res
}

// BenchmarkEngine measures the cost of deciding what to fetch next, with politeness
// off.
func BenchmarkEngine(b *testing.B) {
	for _, hosts := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			e := &endless{hosts: hosts}
			e.left.Store(int64(b.N))
			o := Options{
				Politeness: Politeness{MinDelay: -1, DelayFactor: -1, PerIP: -1, PerDomain: -1, DomainDelay: -1, PerHost: 8},
				Sources:    Sources{NoProbe: true, NoFeeds: true},
			}
			b.ReportAllocs()
			c := New(o, e, e, nil)
			if err := c.Run(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}

func (e *endless) Room(context.Context, string) (int, error) { return -1, nil }
