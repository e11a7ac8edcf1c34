package crawler

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestStatusNext: a host with nothing due stays in memory for a while. The time at which it
// leaves is not when the next request may start. When the crawl has ended, its rate is that of
// the whole crawl.
func TestStatusNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0")
		chain(t, w, "https://a.example", 1, 0)
		o := Options{Follow: true}
		c := newCrawler(o, f, w, nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var idle, parked Status
		var watcher sync.WaitGroup
		watcher.Go(func() {
			time.Sleep(c.opts.Memory.IdleTime / 2)
			idle = c.Status(0)
			time.Sleep(time.Hour - c.opts.Memory.IdleTime/2)
			parked = c.Status(0)
			cancel()
		})
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		watcher.Wait()
		if idle.Hosts.Idle != 1 || parked.Hosts.Sleeping != 1 {
			t.Fatalf("the host was not idle and then parked: %+v, %+v", idle.Hosts, parked.Hosts)
		}
		if !idle.Next.Equal(parked.Next) || idle.Next.Sub(epoch) < 23*time.Hour {
			t.Errorf("the next request may start at %v while the host is idle, and at %v when it is parked", idle.Next, parked.Next)
		}
		if end := c.Status(0); end.PerSecond != float64(end.Pages)/3600 || end.Pages == 0 {
			t.Errorf("%d pages in an hour, %g a second", end.Pages, end.PerSecond)
		}
		if len(parked.Refused) > 0 {
			t.Errorf("rules that refused nothing are counted: %v", parked.Refused)
		}
	})
}
