// Package renderbench measures what rendering costs: in each mode, on recorded pages, and
// after a change of a style sheet that many pages use.
package renderbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/loader/replay"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/render"
	"github.com/webindexer/indexer/repository"
)

// Options of Run.
type Options struct {
	Files   []string
	Modes   []string // off, auto or all
	Rounds  int
	Browser string // path of the program
	Repo    repository.Options
	Log     io.Writer
}

// Result says what each mode costs.
type Result struct {
	Responses int    `json:"responses"`
	Modes     []Mode `json:"modes"`
}

// Mode is the cost of a mode. The medians of all rounds count.
type Mode struct {
	Mode string `json:"mode"`
	// Seconds is the time from the first response until all is searchable.
	Seconds float64 `json:"seconds"`
	// CPU is processor time in ms a response, without the browser; TimesOff how many times
	// that of the mode off it is.
	CPU      float64 `json:"cpu_ms_a_response"`
	TimesOff float64 `json:"times_off,omitempty"`
	// Rendered counts renderings, RenderedPerSecond those per second of the whole load, and
	// BrowserCPU is processor time of the browser in ms a rendering.
	Rendered          int     `json:"rendered"`
	RenderedPerSecond float64 `json:"rendered_per_second"`
	BrowserCPU        float64 `json:"browser_cpu_ms_a_rendering"`
	// Failed counts renderings that gave no document.
	Failed int `json:"failed"`

	responses int
}

// Run replays the files in each mode alternately, each time into an empty directory.
func Run(ctx context.Context, o Options) (*Result, error) {
	res := &Result{}
	runs := make([][]Mode, len(o.Modes))
	for round := range max(o.Rounds, 1) {
		for i := range o.Modes {
			n := (i + round) % len(o.Modes) // not always in the same order
			m, err := measure.InTemp(func(dir string) (Mode, error) { return o.load(ctx, dir, o.Modes[n]) })
			if err != nil {
				return nil, fmt.Errorf("render: mode %s: %w", o.Modes[n], err)
			}
			res.Responses = m.responses
			runs[n] = append(runs[n], m)
			fmt.Fprintf(o.Log, "round %d: %-4s  %.2f ms of processor time a response, %d renderings\n", round+1, m.Mode, m.CPU, m.Rendered)
		}
	}
	for _, list := range runs {
		res.Modes = append(res.Modes, medians(list))
	}
	res.compare()
	return res, nil
}

// compare compares the other modes with off, if that comes first.
func (r *Result) compare() {
	if off := r.Modes[0]; off.Mode == "off" && off.CPU > 0 {
		for i := range r.Modes[1:] {
			r.Modes[i+1].TimesOff = r.Modes[i+1].CPU / off.CPU
		}
	}
}

// load replays the files in one mode.
func (o *Options) load(ctx context.Context, dir, mode string) (m Mode, err error) {
	m.Mode = mode
	var counted counting
	opts := o.Repo
	opts.Render = mode
	if mode != "off" {
		browser := render.New(render.Options{Path: o.Browser})
		counted.Renderer = repository.Chromium{Browser: browser}
		opts.Renderer = &counted
		children := measure.ChildrenTime()
		defer func() { // after the repository was closed
			err = errors.Join(err, browser.Close())
			if n := counted.done.Load(); n > 0 {
				m.BrowserCPU = measure.Milliseconds(measure.ChildrenTime()-children) / float64(n)
			}
		}()
	}
	began, used := time.Now(), measure.ProcessorTime()
	r, err := repository.Open(ctx, dir, opts)
	if err != nil {
		return m, err
	}
	var progress replay.Progress
	err = replay.Run(ctx, r, measure.Inputs(o.Files), replay.Options{Loaders: opts.Workers}, &progress)
	if err == nil {
		err = r.Quiesce(ctx)
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return m, err
	}
	m.responses = int(progress.Fetches.Load())
	m.Seconds = time.Since(began).Seconds()
	m.CPU = measure.Milliseconds(measure.ProcessorTime()-used) / float64(max(m.responses, 1))
	m.Rendered, m.Failed = int(counted.done.Load()), int(counted.failed.Load())
	m.RenderedPerSecond = float64(m.Rendered) / m.Seconds
	return m, nil
}

// counting counts renderings.
type counting struct {
	observers.Renderer
	done, failed atomic.Int64
}

func (c *counting) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	r, err := c.Renderer.Render(ctx, f, lookup)
	if err == nil {
		c.done.Add(1)
		if r.Failure != "" {
			c.failed.Add(1)
		}
	}
	return r, err
}

// medians takes the median of each figure of several runs.
func medians(runs []Mode) Mode {
	of := func(figure func(*Mode) float64) float64 {
		var list []float64
		for i := range runs {
			list = append(list, figure(&runs[i]))
		}
		return measure.Median(list)
	}
	return Mode{
		Mode:              runs[0].Mode,
		Seconds:           of(func(m *Mode) float64 { return m.Seconds }),
		CPU:               of(func(m *Mode) float64 { return m.CPU }),
		Rendered:          int(of(func(m *Mode) float64 { return float64(m.Rendered) })),
		RenderedPerSecond: of(func(m *Mode) float64 { return m.RenderedPerSecond }),
		BrowserCPU:        of(func(m *Mode) float64 { return m.BrowserCPU }),
		Failed:            int(of(func(m *Mode) float64 { return float64(m.Failed) })),
	}
}

// Text is the result as people read it.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d responses\n", r.Responses)
	b.WriteString("mode  seconds  ms of CPU a response  × off  renderings  per second  ms of CPU a rendering (browser)  failed\n")
	for _, m := range r.Modes {
		times := ""
		if m.TimesOff > 0 {
			times = fmt.Sprintf("%.3f", m.TimesOff)
		}
		fmt.Fprintf(&b, "%-4s %8.1f %21.3f %6s %11d %11.1f %33.0f %7d\n", m.Mode, m.Seconds, m.CPU, times, m.Rendered, m.RenderedPerSecond, m.BrowserCPU, m.Failed)
	}
	return b.String()
}
