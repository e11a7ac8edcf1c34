package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web/assets"
)

// Options of New. Zero fields take defaults.
type Options struct {
	Search  Searcher  // required
	Inspect Inspector // required

	// Query holds the defaults of a search, such as weights and the number of hits per
	// host.
	Query search.Options

	// Credentials are required by all requests except those for Open; nil means none.
	Credentials *Credentials
	// Hosts are the host names that requests may use besides IP addresses and localhost,
	// such as that of a proxy in front. AnyHost turns the check off. That is safe if the
	// server requires credentials, which an attacker's page cannot send.
	Hosts   []string
	AnyHost bool
	// Origins are the origins, such as https://docs.example, whose pages may search from a
	// visitor's browser and load the search box. Other paths stay closed to them.
	Origins []string

	// Mounts are handlers of other packages, by http.ServeMux pattern without a method.
	// They get the same headers and checks as all handlers, but no limits of duration or
	// number, so they have to bound themselves. Their contexts end when the server begins
	// to shut down.
	Mounts map[string]http.Handler
	// Open are the paths in Mounts that need no credentials and accept any Host header.
	// They may reveal no more than whether the process works.
	Open []string
	// Live says that Mounts has a status page at /status.
	Live bool

	// Notes returns the notes at the top of every page; nil means none.
	Notes func() []string

	Header     time.Duration // time for a client to send a request; default 5 s
	Concurrent int           // concurrent requests; default 64
	Time       time.Duration // time for one request; default 20 s
	Drain      time.Duration // time for running requests when the server ends; default 5 s, none if negative
	Log        *zap.Logger
}

// Server serves the pages and the API of one index.
type Server struct {
	opts    Options
	pages   map[string]*template.Template
	api     []byte // the OpenAPI document
	handler http.Handler
	slots   chan struct{}
	copies  chan struct{} // slots of handlers that make copies
	stats   recent[*repository.Stats]
	known   recent[search.Filters]
	// unpictured is the time until which the server asks for no thumbnails, in Unix
	// nanoseconds.
	unpictured atomic.Int64
	icons      siteIcons

	closing context.Context // ends the handlers in Mounts
	close   context.CancelFunc
}

// New makes a server.
func New(opts Options) (*Server, error) {
	if opts.Search == nil || opts.Inspect == nil {
		return nil, errors.New("web: Options.Search and Options.Inspect are required")
	}
	opts.Header = cmp.Or(opts.Header, 5*time.Second)
	opts.Concurrent = cmp.Or(opts.Concurrent, 64)
	opts.Time = cmp.Or(opts.Time, 20*time.Second)
	opts.Drain = cmp.Or(opts.Drain, 5*time.Second)
	opts.Log = cmp.Or(opts.Log, zap.NewNop())
	if err := checkOrigins(opts.Origins); err != nil {
		return nil, err
	}
	opts.Hosts = slices.Clone(opts.Hosts)
	for i, name := range opts.Hosts {
		opts.Hosts[i] = plainHost(name)
	}
	s := &Server{opts: opts, slots: make(chan struct{}, opts.Concurrent), copies: make(chan struct{}, maxCopies)}
	var err error
	if s.pages, err = parsePages(); err != nil {
		return nil, err
	}
	if s.api, err = openAPI(); err != nil {
		return nil, err
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.handler = s.routes()
	return s, nil
}

// routes maps paths to handlers and wraps them in the checks, the outermost of which run first.
func (s *Server) routes() http.Handler {
	own := http.NewServeMux()
	for pattern, handler := range map[string]handlerFunc{
		"/{$}":              s.search,
		"/help":             s.help,
		"/doc":              s.document,
		"/view":             s.oneOfCopies(s.view),
		"/copy":             s.oneOfCopies(s.copy),
		"/screenshot":       s.oneOfCopies(s.picture),
		"/icon":             s.icon,
		"/compare":          s.oneOfCopies(s.compare),
		"/opensearch.xml":   s.openSearch,
		scriptPath:          s.searchBox,
		"/api/query":        s.apiQuery,
		"/api/suggest":      s.apiSuggest,
		"/api/inspect":      s.apiInspect,
		"/api/versions":     s.apiVersions,
		"/api/similar":      s.apiSimilar,
		"/api/stats":        s.apiStats,
		"/api/openapi.json": s.apiDescription,
		"/":                 s.notFound,
	} {
		own.Handle(pattern, s.answer(handler))
	}
	own.Handle(assets.Prefix, assets.Handler())
	own.Handle("/favicon.ico", http.RedirectHandler(assets.URL("favicon.svg"), http.StatusFound))

	all := http.NewServeMux()
	all.Handle("/", s.bounded(own))
	for pattern, handler := range s.opts.Mounts {
		all.Handle(pattern, s.mounted(handler))
	}
	guarded := s.checkSite(s.checkHost(s.checkCredentials(all)))
	for _, open := range s.opts.Open {
		guarded = except(open, all, guarded)
	}
	return s.rescue(securityHeaders(s.shareAcrossOrigins(checkRequest(guarded))))
}

// except sends requests for one path to bare, and all others to guarded.
func except(path string, bare, guarded http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			bare.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler { return s.handler }

// The bounds of a request besides Options.Time. Browsers keep a connection open for the
// next page, for at most idleTime.
const (
	maxHeaderBytes = 32 << 10
	idleTime       = 2 * time.Minute
	writeTime      = 30 * time.Second // in addition to Options.Time, for slow readers
)

// Serve answers requests on a listener until ctx ends. Then it closes the listener,
// cancels the contexts of the handlers in Mounts, gives other running requests
// Options.Drain to complete, and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.close()
	server := &http.Server{
		Handler: s.handler, MaxHeaderBytes: maxHeaderBytes,
		ReadHeaderTimeout: s.opts.Header, ReadTimeout: s.opts.Header, WriteTimeout: s.opts.Time + writeTime, IdleTimeout: idleTime,
		ErrorLog: zap.NewStdLog(s.opts.Log.WithOptions(zap.IncreaseLevel(zap.ErrorLevel))),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	s.close()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(s.opts.Drain, 0))
	defer cancel()
	err := server.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close() // clients that still read have had their time
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("shut down the server on %s: %w", l.Addr(), err)
	}
	return nil
}
