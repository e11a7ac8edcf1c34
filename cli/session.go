package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/pdf"
	"github.com/webindexer/indexer/render"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/web/remote"
)

// session is an open data directory that answers requests of other processes.
type session struct {
	app     *app
	repo    *repository.Repository
	browser *render.Browser // nil if there is none
	pdfs    *pdf.Reader
	server  *control.Server // nil if the directory cannot hold a socket
	crawl   *frontier.Crawl
	loads   bool // opened by a command that loads
	// leaving says that the directory is being released to another process, which will
	// answer the requests that this one no longer answers.
	leaving atomic.Bool

	asked     []frontier.Asked // the URLs of crawl --again
	continues bool             // there was a crawl before

	deployment *deployment // nil for a store in the data directory
	describing *describing // of a deployment
	closeIndex func() error

	crawler atomic.Pointer[crawler.Crawler] // while it runs
}

// formatSettings are the values of the settings office and pdf.
var formatSettings = map[string]*bool{"keep": nil, "on": new(true), "off": new(false)}

var commitModes = map[string]txn.Mode{"auto": txn.Auto, "one-phase": txn.OnePhase, "two-phase": txn.TwoPhase}

// open opens the data directory. With create, it creates the directory if needed.
func (a *app) open(ctx context.Context, create bool) (*session, error) {
	if err := a.checkIndex(); err != nil { // before anything is made
		return nil, err
	}
	if a.isShared() {
		return a.openShared(ctx, create)
	}
	if err := checkDataDir(a.cfg.Data, create, a.nameInData(a.archive)); err != nil {
		return nil, err
	}
	if err := a.prepareAccess(create); err != nil {
		return nil, denied(err)
	}
	s, err := a.newSession(create)
	if err != nil {
		return nil, err
	}
	opts := s.repositoryOptions()
	opts.Collect = create // commands that load run long and leave old versions
	if err := s.openRepository(ctx, opts); err != nil {
		return nil, err
	}
	s.startAnswering()
	return s, nil
}

// newSession prepares this process for opening a repository.
func (a *app) newSession(loads bool) (*session, error) {
	a.cfg.LimitMemory()
	if err := a.prepareForFaults(); err != nil {
		return nil, err
	}
	browser, err := a.findBrowser()
	if err != nil {
		return nil, err
	}
	return &session{app: a, browser: browser, pdfs: pdfReader(), crawl: &frontier.Crawl{Ranks: observers.RankOf}, loads: loads}, nil
}

// repositoryOptions returns the options that do not depend on where the store is. In a directory
// with a crawl, every command that loads pages also discovers new URLs in them.
func (s *session) repositoryOptions() repository.Options {
	a := s.app
	return repository.Options{
		Crawl: func(ctx context.Context, db *txn.DB) ([]notify.Observer, error) {
			return s.crawl.Resume(ctx, db, a.beginsCrawl || s.crawl.Divided()) // another process may begin one
		},
		Workers: a.cfg.Workers, Backlog: a.cfg.Backlog, Memory: a.cfg.MemoryBytes(),
		Commit: commitModes[a.cfg.Commit], Sync: a.cfg.Sync, History: a.cfg.History,
		Office: formatSettings[a.cfg.Office], PDF: formatSettings[a.cfg.PDF], PDFReader: s.pdfs,
		Render: strings.TrimPrefix(a.cfg.Render, "keep"), Renderer: rendererOf(s.browser),
		RankTolerance: a.cfg.RankTolerance, Trace: traceRecords(a.cfg.Trace), Log: a.log,
		Reindex: a.reindexes != nil, Told: a.reindexes,
	}
}

// traceRecords translates the setting: there 0 means none, in the options the default.
func traceRecords(setting int) int {
	if setting == 0 {
		return -1
	}
	return setting
}

// openRepository opens the repository, and the index if it is not index files.
func (s *session) openRepository(ctx context.Context, opts repository.Options) (err error) {
	if opts.Index, s.closeIndex, err = s.app.otherIndex(); err != nil {
		return err
	}
	if s.repo, err = repository.Open(ctx, s.app.cfg.Data, opts); err != nil {
		return denied(errors.Join(err, s.closeIndex()))
	}
	if err := s.app.shareFiles(); err != nil {
		s.app.log.Warn("some files in the data directory are not open to its group", zap.Error(err))
	}
	return nil
}

// startAnswering begins to answer requests of other processes.
func (s *session) startAnswering() {
	var err error
	if s.server, err = control.Serve(s.app.cfg.Data, s.answer); err != nil {
		s.app.log.Warn("other processes cannot ask this one", zap.Error(err))
	}
}

// close waits for requests in progress, unless ctx has ended, and then closes the directory.
// Observers continue with the remaining work after the next open.
func (s *session) close(ctx context.Context) error {
	err := s.stopAnswering(ctx)
	if s.describing != nil {
		s.describing.stop()
	}
	if n := s.pdfs.Unreadable(); n > 0 {
		s.app.log.Warn("PDF documents could not be read; `indexer inspect URL` says why", zap.Int64("documents", n))
	}
	err = errors.Join(err, s.repo.Close(), s.browser.Close(), s.pdfs.Close(), s.closeIndex(), s.app.shareFiles())
	if s.deployment != nil {
		err = errors.Join(err, s.deployment.leave())
	}
	return err
}

// stopAnswering accepts no more requests of other processes, and waits for those in progress
// until ctx ends.
func (s *session) stopAnswering(ctx context.Context) error {
	if s.server == nil {
		return nil
	}
	if n := s.server.Requests(); n > 0 && !s.leaving.Load() {
		_, _ = fmt.Fprintf(s.app.stderr, "answering %s from other processes before closing\n", count(n, "question"))
	}
	return s.server.Close(ctx)
}

// answer runs a command for another process.
func (s *session) answer(ctx context.Context, req control.Request, stdout, stderr io.Writer) int {
	if req.Store != "" && req.Store != s.app.database() {
		return statusOtherStore
	}
	switch req.Command {
	case "holder":
		return report(s.answerHolder(req, stdout), stderr, false)
	case "status":
		return report(printStatus(ctx, s.repo, []oracle.Process{s.process()}, req, stdout), stderr, req.Format == "json")
	case "live":
		return report(remote.AnswerPipeline(ctx, liveSource{s.repo, s}, onlyArgument(req), stdout), stderr, false)
	}
	asJSON := req.Format == "json" && req.Command != "web" // a server shows the error text on its pages
	run, ok := questions[req.Command]
	if !ok {
		return report(&usageError{reason: fmt.Sprintf("the process that has the data directory does not know the request %q; use the same version of indexer", req.Command)}, stderr, asJSON)
	}
	err := s.run(ctx, run, req, stdout, stderr)
	if err != nil && ctx.Err() != nil && (s.leaving.Load() || errors.Is(err, context.Canceled)) {
		// The client was not interrupted: this process is stopping, or the client is gone.
		return statusAskAgain
	}
	return report(err, stderr, asJSON)
}

// run runs a question for another process. On a shared store, it waits for the store only so
// long.
func (s *session) run(ctx context.Context, q question, req control.Request, stdout, stderr io.Writer) error {
	if s.deployment == nil {
		return q(ctx, s.repo, req, stdout, stderr)
	}
	return whileConnected(ctx, s.deployment.coordination.Liveness.Valid, stderr, func(ctx context.Context) error {
		return q(ctx, s.repo, req, stdout, stderr)
	})
}
