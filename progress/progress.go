// Package progress shows how far long work has come: on a terminal one line that
// is rewritten, elsewhere a line now and then.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// State is how far the work has come. Fields that are not known are zero.
type State struct {
	Records       int64         // records read
	Pages         int64         // fetches loaded
	Bytes, Size   int64         // position in, and size of, all files together; Size -1 if unknown
	Backlog       int           // rows waiting for observers
	Latency       time.Duration // from fetch to searchable, median of the last pages
	Phase         string        // what is being done, where it is not reading
	FilesDone, Of int
}

// Options of a Reporter.
type Options struct {
	// Terminal rewrites one line; otherwise lines follow each other.
	Terminal bool
	// Width is that of the terminal in columns; 0 stands for 80.
	Width int
}

const (
	redraw   = 200 * time.Millisecond // on a terminal
	interval = 5 * time.Second        // elsewhere
)

// Reporter shows the state of some work until it is stopped.
type Reporter struct {
	w     io.Writer
	state func() State
	opts  Options
	begun time.Time

	mu      sync.Mutex // one writer at a time
	drawn   bool       // the terminal's line holds something
	stop    chan struct{}
	running sync.WaitGroup
}

// Start shows what state returns, on w, until Stop. Errors of w are ignored: who
// does not look at the progress may still want the work.
func Start(w io.Writer, state func() State, opts Options) *Reporter {
	if opts.Width <= 0 {
		opts.Width = 80
	}
	r := &Reporter{w: w, state: state, opts: opts, begun: time.Now(), stop: make(chan struct{})}
	r.running.Go(r.run)
	return r
}

func (r *Reporter) run() {
	every := interval
	if r.opts.Terminal {
		every = redraw
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.show()
		case <-r.stop:
			return
		}
	}
}

func (r *Reporter) show() {
	s := r.state()
	elapsed := time.Since(r.begun)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.opts.Terminal {
		_, _ = fmt.Fprintln(r.w, s.line(elapsed))
		return
	}
	_, _ = fmt.Fprint(r.w, "\r\x1b[K", cut(s.line(elapsed), r.opts.Width-1))
	r.drawn = true
}

// Write passes p on without mixing it with the progress: the terminal's line is
// cleared before. It is for logs and messages that go to the same place.
func (r *Reporter) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
	return r.w.Write(p)
}

// Stop ends the progress and clears the terminal's line.
func (r *Reporter) Stop() {
	close(r.stop)
	r.running.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
}

func (r *Reporter) clear() {
	if r.drawn {
		_, _ = fmt.Fprint(r.w, "\r\x1b[K")
		r.drawn = false
	}
}

// cut shortens a line to a number of columns. The lines are ASCII.
func cut(line string, width int) string {
	if width < 0 || len(line) <= width {
		return line
	}
	return line[:width]
}
