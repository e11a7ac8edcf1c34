package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"indexer/index"
	"indexer/repository"
	"indexer/web/assets"
)

// Options of New. Zero fields take defaults.
type Options struct {
	Search  Searcher  // needed
	Inspect Inspector // needed

	// Query is how searches are made where a request does not say otherwise: weights, and
	// hits of one host.
	Query index.Options

	// Credentials that every request needs but those of Open; nil: none.
	Credentials *Credentials
	// Hosts are names by which the server may be called beside its addresses and
	// localhost: those of a proxy in front of it. AnyHost turns the check off; it is for
	// a server that asks for credentials, which an attacker's page cannot have sent.
	Hosts   []string
	AnyHost bool

	// Mounts are handlers of others, by pattern of http.ServeMux without a method. They
	// get the headers and checks of all, but no limit of time or number: their contexts
	// end when the server begins to shut down, and they bound themselves.
	Mounts map[string]http.Handler
	// Open are the paths among Mounts that need no credentials and answer under any
	// Host: they tell nothing but whether the process works.
	Open []string
	// Live says that Mounts has a status page at /status.
	Live bool

	// Notes gives what is shown at the top of every page; nil: nothing.
	Notes func() []string

	Header     time.Duration // for a client to send a request; 5 s
	Concurrent int           // requests that run at a time; 64
	Time       time.Duration // for one request; 20 s
	Drain      time.Duration // for requests under way when the server ends; 5 s, below 0 none
	Log        *zap.Logger
}

// Server is the pages and the API over one index.
type Server struct {
	opts    Options
	pages   map[string]*template.Template
	api     []byte // the OpenAPI document
	handler http.Handler
	slots   chan struct{}
	copies  chan struct{} // likewise, of those that make copies
	stats   recent[*repository.Stats]
	known   recent[index.Filters]

	closing context.Context // of what is mounted
	close   context.CancelFunc
}

// New makes a server.
func New(opts Options) (*Server, error) {
	if opts.Search == nil || opts.Inspect == nil {
		return nil, errors.New("web: a server needs something to search in and something to inspect")
	}
	if opts.Header == 0 {
		opts.Header = 5 * time.Second
	}
	if opts.Concurrent == 0 {
		opts.Concurrent = 64
	}
	if opts.Time == 0 {
		opts.Time = 20 * time.Second
	}
	if opts.Drain == 0 {
		opts.Drain = 5 * time.Second
	}
	if opts.Log == nil {
		opts.Log = zap.NewNop()
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

// routes says which handler answers what. The outermost checks come first.
func (s *Server) routes() http.Handler {
	own := http.NewServeMux()
	for pattern, handler := range map[string]handlerFunc{
		"/{$}":              s.search,
		"/help":             s.help,
		"/doc":              s.document,
		"/view":             s.oneOfCopies(s.view),
		"/copy":             s.oneOfCopies(s.copy),
		"/opensearch.xml":   s.openSearch,
		"/api/query":        s.apiQuery,
		"/api/inspect":      s.apiInspect,
		"/api/versions":     s.apiVersions,
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
	guarded := checkSite(s.checkHost(s.checkCredentials(all)))
	for _, open := range s.opts.Open {
		guarded = except(open, all, guarded)
	}
	return s.rescue(securityHeaders(checkRequest(guarded)))
}

// except lets requests of a path by.
func except(path string, bare, guarded http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			bare.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// Handler answers requests.
func (s *Server) Handler() http.Handler { return s.handler }

// The bounds of a request beside Options.Time. A browser keeps a connection open for
// the next page.
const (
	maxHeaderBytes = 32 << 10
	idleTime       = 2 * time.Minute
	writeTime      = 30 * time.Second // beyond Options.Time, for slow readers
)

// Serve answers on a listener until ctx ends. Requests under way are completed then,
// for as long as Options.Drain; what is mounted is told to end at once. It returns
// nil after that, and closes the listener.
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
		err = server.Close() // who is still reading has had their time
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("end the server on %s: %w", l.Addr(), err)
	}
	return nil
}
