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
	// Clients is the maximum number of concurrent clients of the events; default 32.
	Clients int
	// Profiles serves /debug/pprof/. Profiles reveal much about a process and slow it down.
	Profiles bool
	// Search checks whether searches work. It is for a server that shows the pipeline of
	// another process: such a server is ready while it can search, whatever happens to the
	// other process. If nil, the server is ready while its own pipeline runs.
	Search func(context.Context) error
	// Elsewhere reports whether another process has the pipeline now, for a server that
	// may take it over. If it is nil and Search is set, another process always has it.
	Elsewhere func() bool
	// Notes returns the notes at the top of the page; nil means none.
	Notes func() []string
	Log   *zap.Logger
}

// Live watches a source and serves its status.
type Live struct {
	monitor *monitor
	opts    Options
	page    *statusPage
	metrics http.Handler
}

// New starts to watch a source, until Close.
func New(source Source, opts Options) (*Live, error) {
	if source == nil {
		return nil, errors.New("web/live: the source is nil")
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

// Close stops watching, ends the events of all clients, and waits for its goroutines. The
// source may be closed afterwards.
func (l *Live) Close() { l.monitor.stop() }

// Mounts returns the handlers by pattern, for web.Options.Mounts.
func (l *Live) Mounts() map[string]http.Handler {
	mounts := map[string]http.Handler{
		"/status":        http.HandlerFunc(l.status),
		"/status/events": http.HandlerFunc(l.events),
		filePrefix:       files,
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

// Open returns the paths that need no credentials: the health checks of a supervisor.
func Open() []string { return []string{"/healthz", "/readyz"} }

// Handler serves all of Mounts without a web.Server. It adds no security headers and
// requires no credentials.
func (l *Live) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handler := range l.Mounts() {
		mux.Handle(pattern, handler)
	}
	return mux
}
