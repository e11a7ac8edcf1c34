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
	Done          int64         // rows that observers have done
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
	line  func(elapsed time.Duration) string
	opts  Options
	begun time.Time

	mu      sync.Mutex // one writer at a time
	drawn   bool       // the terminal's line holds something
	last    string     // what was shown last
	stop    chan struct{}
	running sync.WaitGroup
}

// Start shows what state returns, on w, until Stop. Errors of w are ignored: who
// does not look at the progress may still want the work.
func Start(w io.Writer, state func() State, opts Options) *Reporter {
	return StartLine(w, func(elapsed time.Duration) string { return state().line(elapsed) }, opts)
}

// StartLine is Start for work that tells its state on a line itself. Where lines
// follow each other, one that is like the line before it is left out: work that
// waits for a day fills no log.
func StartLine(w io.Writer, line func(elapsed time.Duration) string, opts Options) *Reporter {
	if opts.Width <= 0 {
		opts.Width = 80
	}
	r := &Reporter{w: w, line: line, opts: opts, begun: time.Now(), stop: make(chan struct{})}
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
	line := r.line(time.Since(r.begun))
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.opts.Terminal {
		if line != r.last {
			_, _ = fmt.Fprintln(r.w, line)
		}
		r.last = line
		return
	}
	_, _ = fmt.Fprint(r.w, "\r\x1b[K", cut(line, r.opts.Width-1))
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

// cut shortens a line to a number of columns, where each character takes one.
func cut(line string, width int) string {
	if runes := []rune(line); width >= 0 && len(runes) > width {
		return string(runes[:width])
	}
	return line
}
