// Package progress shows the progress of long work: on a terminal as one line that it
// rewrites, elsewhere as a line every few seconds.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// State describes the progress. Unknown fields are zero.
type State struct {
	Records       int64         // records read
	Pages         int64         // fetches loaded
	Bytes, Size   int64         // position in, and size of, all files together; Size -1 if unknown
	Backlog       int           // rows waiting for observers
	Done          int64         // rows that observers have processed
	Latency       time.Duration // from fetch to searchable, median of the last pages
	Elsewhere     bool          // other processes run the observers, and Backlog, Done and Latency are unknown
	Phase         string        // what is being done, unless it is reading
	FilesDone, Of int
}

// Options of a Reporter.
type Options struct {
	// Terminal rewrites one line; otherwise each update is a new line.
	Terminal bool
	// Width is the width of the terminal in columns; default 80.
	Width int
}

const (
	redraw   = 200 * time.Millisecond // on a terminal
	interval = 5 * time.Second        // elsewhere
)

// Reporter shows the state of some work until Stop.
type Reporter struct {
	w     io.Writer
	line  func(elapsed time.Duration) string
	opts  Options
	begun time.Time

	mu      sync.Mutex // one writer at a time
	drawn   bool       // the terminal's line is not empty
	last    string     // what was shown last
	stop    chan struct{}
	running sync.WaitGroup
}

// Start shows what state returns on w, until Stop. It ignores errors of w, because the work
// matters more than its progress.
func Start(w io.Writer, state func() State, opts Options) *Reporter {
	return StartLine(w, func(elapsed time.Duration) string { return state().line(elapsed) }, opts)
}

// StartLine is like Start for work that formats its own line. Without a terminal, it
// skips a line that equals the previous one, so that work that waits for a day does not
// fill a log.
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

// Write writes p after clearing the terminal's line. It is for logs and messages that go to
// the same place as the progress.
func (r *Reporter) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
	return r.w.Write(p)
}

// Stop stops the Reporter and clears the terminal's line.
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

// cut shortens a line to a number of columns, one per character.
func cut(line string, width int) string {
	if runes := []rune(line); width >= 0 && len(runes) > width {
		return string(runes[:width])
	}
	return line
}
