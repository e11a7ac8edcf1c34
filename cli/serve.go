package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/web"
)

const serveHelp = `
Serve a search page, a page for each URL with everything known about it, stored copies,
and a JSON API, on a loopback address. With --crawl it also crawls, with the flags of
indexer crawl; pages can be searched seconds after they were fetched, and the server
keeps running when the crawl has ended.

/status shows the pipeline at work, /metrics shows the same for Prometheus, and /healthz
and /readyz are for supervisors such as systemd or Kubernetes.

A server that does not crawl releases the data directory when another command needs it
(replay, crawl, serve --crawl), and takes it back when that command has ended. Meanwhile
it searches the index files, and asks the other process for details and for the data of
/status and /metrics. A server that crawls keeps the directory until the crawl has ended.

To let other machines reach it, use --allow-remote with an address in --listen and
credentials: --user with --password-file, or --token-file. Passwords cross the network
unencrypted, so put a proxy with TLS in front of it.

The first interrupt (Ctrl-C) completes the requests in progress; a second one stops at
once.`

func (a *app) serveCommand() *cobra.Command {
	var seeds []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a search page, a page for each URL, and a JSON API",
		Long:  long(serveHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples(
			"indexer serve",
			"indexer serve --crawl seeds.txt --follow --contact https://example.org/bot",
			"indexer serve --listen 0.0.0.0:7070 --allow-remote --user reader --password-file secret",
		),
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(seeds) == 0 {
				a.noteCrawlFlags(cmd.Flags())
			}
			return a.serve(cmd.Context(), seeds)
		},
	}
	cmd.Flags().StringArrayVar(&seeds, "crawl", nil, "also crawl from these seeds: a `file`, a URL or a host; may be repeated")
	registerServe(cmd, a.cfg.Serve)
	a.shardFlags(cmd)
	registerCrawl(cmd, a.cfg.Crawl)
	a.pipelineFlags(cmd)
	return cmd
}

// noteCrawlFlags names the flags that only a crawl would use.
func (a *app) noteCrawlFlags(flags *pflag.FlagSet) {
	flags.Visit(func(f *pflag.Flag) {
		if crawlFlagKeys[f.Name] != "" {
			_, _ = fmt.Fprintf(a.stderr, "indexer: --%s has no effect without --crawl\n", f.Name)
		}
	})
}

func (a *app) serve(ctx context.Context, seeds []string) error {
	secret, err := credentials(a.cfg.Serve)
	if err != nil {
		return err
	}
	crawl := flagsOf(a.cfg.Crawl)
	if err := crawl.check(); err != nil {
		return err
	}
	from, err := a.findSeeds(ctx, seeds, crawl.config)
	if err != nil {
		return err
	}
	var fetchOptions fetch.Options
	crawls := len(seeds) > 0
	if crawls { // otherwise, it needs no secrets of sites
		if fetchOptions, err = crawl.fetchOptions(int64(a.cfg.WARC.MaxBody)); err != nil {
			return err
		}
		if err := a.prepareArchive(crawl.warc); err != nil {
			return err
		}
	}
	// The address comes first, so that a mistake in it is reported before anything is opened.
	l, err := web.Listen(ctx, a.cfg.Serve.Listen, a.cfg.Serve.AllowRemote, secret)
	if err != nil {
		return err
	}
	options := a.webOptions(secret)
	a.beginsCrawl, a.archive = crawls, crawl.warc
	st := newStandby(ctx, a)
	st.crawls.Store(crawls)
	a.standby = st
	open := func(ctx context.Context) (*session, error) { return a.open(ctx, false) }
	if crawls {
		a.command += " --crawl"
		open = a.openToLoad
	}
	s, err := open(ctx)
	if err != nil && (crawls || !errors.Is(err, store.ErrInUse) && !a.canOnlySearch(err)) {
		return errors.Join(err, closeListener(l))
	}
	a.beginsCrawl = false // reopening the directory later must not start the crawl again
	if errors.Is(err, store.ErrInUse) {
		_, _ = fmt.Fprintln(a.stderr, "Another process has the data directory: this server searches the index files, and asks that process for details.")
	}
	st.begin(s)
	work := func(context.Context) error { return nil }
	if crawls {
		work = func(ctx context.Context) error { return s.crawlBeside(ctx, from, crawl, fetchOptions) }
	}
	err = st.serve(ctx, l, options, work)
	return errors.Join(err, st.close(ctx))
}

// canOnlySearch reports whether the store cannot be opened because nothing can be written, on a full
// disk or a read-only file system, and there are index files to search: reading them writes nothing.
func (a *app) canOnlySearch(err error) bool {
	return (isFull(err) || errors.Is(err, syscall.EROFS)) && !a.isShared() && index.Exists(repository.IndexDir(a.cfg.Data))
}

// serve serves until ctx ends, and runs work at the same time. It owns the listener.
func (st *standby) serve(ctx context.Context, l net.Listener, o web.Options, work func(context.Context) error) (err error) {
	files, err := st.openIndex(ctx)
	if err != nil {
		return errors.Join(err, closeListener(l))
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	o.Search, o.Inspect, o.Notes = files, st, st.notes
	status, err := st.mountLive(&o, files)
	if err != nil {
		return errors.Join(err, closeListener(l))
	}
	defer status.Close()
	server, err := web.New(o)
	if err != nil {
		return errors.Join(err, closeListener(l))
	}
	_, _ = fmt.Fprintf(st.app.stderr, "serving on %s\n", openable(l.Addr()))
	told := context.AfterFunc(ctx, func() {
		_, _ = fmt.Fprintln(st.app.stderr, "stopping: requests in progress are completed; interrupt again to stop at once")
	})
	defer told()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Serve(ctx, l) })
	g.Go(func() error { return work(ctx) })
	g.Go(func() error {
		st.run(ctx)
		return nil
	})
	return g.Wait()
}

// openable is the URL at which a browser on this machine opens the pages of a listener.
func openable(listener net.Addr) string {
	if a, ok := listener.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d/ and all other addresses of this machine", a.Port)
	}
	return fmt.Sprintf("http://%s/", listener)
}

// crawlBeside crawls while the server serves. A crawl that fetched nothing must not stop the
// server. After the crawl, the server releases the directory on request.
func (s *session) crawlBeside(ctx context.Context, from foundSeeds, f crawlFlags, o fetch.Options) error {
	defer s.app.standby.crawls.Store(false)
	err := s.app.crawlIn(ctx, s, from, &f, o)
	if errors.Is(err, errNothingFetched) {
		_, _ = fmt.Fprintf(s.app.stderr, "%v; the server keeps running\n", err)
		return nil
	}
	return err
}

// closeListener closes a listener that may already be closed.
func closeListener(l net.Listener) error {
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the listener: %w", err)
	}
	return nil
}
