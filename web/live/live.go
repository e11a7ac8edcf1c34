package live

import (
	"context"
	"errors"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// Options of New. Zero fields take defaults.
type Options struct {
	// Clients is how many may follow the events at a time; 32.
	Clients int
	// Profiles serves /debug/pprof/. They tell much of a process, and cost it.
	Profiles bool
	// Search tells whether searches are answered. It is for a server that shows the
	// pipeline of another process: that is ready while it can search, whatever becomes of
	// the other. nil: ready is who has a pipeline that runs.
	Search func(context.Context) error
	// Elsewhere says whether the pipeline is that of another process just now, for a
	// server that may take it over; nil: always, if Search is set.
	Elsewhere func() bool
	// Notes gives what is shown at the top of the page; nil: nothing.
	Notes func() []string
	Log   *zap.Logger
}

// Live watches a source and shows it.
type Live struct {
	monitor *monitor
	opts    Options
	page    *statusPage
	metrics http.Handler
}

// New begins to watch. Close ends it.
func New(source Source, opts Options) (*Live, error) {
	if source == nil {
		return nil, errors.New("web/live: there is nothing to watch")
	}
	if opts.Clients <= 0 {
		opts.Clients = 32
	}
	if opts.Log == nil {
		opts.Log = zap.NewNop()
	}
	page, err := newStatusPage()
	if err != nil {
		return nil, err
	}
	l := &Live{opts: opts, page: page}
	l.monitor = startMonitor(source, opts)
	if l.metrics, err = metricsHandler(l.monitor, prometheus.NewRegistry()); err != nil {
		l.monitor.stop()
		return nil, err
	}
	return l, nil
}

// Close ends watching, and every client's events, and waits for the watching. The
// source may be closed after it.
func (l *Live) Close() { l.monitor.stop() }

// Mounts are the handlers by pattern, as web.Options.Mounts wants them.
func (l *Live) Mounts() map[string]http.Handler {
	mounts := map[string]http.Handler{
		"/status":        http.HandlerFunc(l.status),
		"/status/events": http.HandlerFunc(l.events),
		filePrefix:       http.HandlerFunc(file),
		"/metrics":       l.metrics,
		"/healthz":       http.HandlerFunc(healthy),
		"/readyz":        http.HandlerFunc(l.ready),
	}
	if l.opts.Search != nil {
		mounts["/readyz"] = l.eitherReady(&readiness{check: l.opts.Search, log: l.opts.Log, turn: make(chan struct{}, 1)})
	}
	if l.opts.Profiles {
		mounts["/debug/pprof/"] = http.HandlerFunc(pprof.Index)
		mounts["/debug/pprof/profile"] = http.HandlerFunc(pprof.Profile)
		mounts["/debug/pprof/trace"] = http.HandlerFunc(pprof.Trace)
		mounts["/debug/pprof/symbol"] = http.HandlerFunc(pprof.Symbol)
		mounts["/debug/pprof/cmdline"] = http.NotFoundHandler() // arguments may hold secrets
	}
	return mounts
}

// Open are the paths that need no credentials: those a supervisor asks.
func Open() []string { return []string{"/healthz", "/readyz"} }

// Handler is all of Mounts, for use without a web.Server. It adds no security headers
// and asks for no credentials.
func (l *Live) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handler := range l.Mounts() {
		mux.Handle(pattern, handler)
	}
	return mux
}
