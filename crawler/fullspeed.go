package crawler

import (
	"runtime"
	"time"
)

// Between two loads, observers use the time to export pages at once that would otherwise wait
// for further links to them (notify/spare.go). A crawl that is as fast as the machine has such
// moments, too, but too few of them for all of its pages: on a busy machine, it exported a
// quarter of them early, and then again with their links, for a seventh of its processor time.
//
// So while a crawl runs at full speed, it says that it is loading (Options.Loading), as a replay
// does. It runs at full speed while all requests that it may make are under way and pages come at
// fullSpeedRate. If they come more slowly, the crawl waits for servers and the machine has time.
const (
	// fullSpeedRate is in pages a second for each processor, two fifths of what a processor can
	// load and index.
	fullSpeedRate   = 200
	fullSpeedWindow = 250 * time.Millisecond
)

// fullSpeed is the crawl's speed in the last window. The goroutine of Run owns it.
type fullSpeed struct {
	began time.Time // of the window
	pages int64     // before it
	end   func()    // ends Loading; nil if the crawl does not run at full speed
}

// watchSpeed announces, once in a window, whether the crawl runs at full speed.
func (c *Crawler) watchSpeed(now time.Time) {
	f := &c.fullSpeed
	took := now.Sub(f.began)
	if c.opts.Loading == nil || took < fullSpeedWindow {
		return
	}
	c.mu.Lock()
	pages, full := c.meter.pages, c.running >= c.opts.Concurrency
	c.mu.Unlock()
	enough := fullSpeedRate * float64(runtime.GOMAXPROCS(0)) * took.Seconds()
	fast := full && float64(pages-f.pages) >= enough
	f.began, f.pages = now, pages
	if !fast {
		f.stop()
	} else if f.end == nil {
		f.end = c.opts.Loading()
	}
}

// wait shortens a wait, so that the end of full speed is noticed although nothing else happens.
func (f *fullSpeed) wait(d time.Duration) time.Duration {
	if f.end == nil {
		return d
	}
	return min(d, fullSpeedWindow)
}

func (f *fullSpeed) stop() {
	if f.end != nil {
		f.end()
		f.end = nil
	}
}
