package crawltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/archive"
	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/loader/replay"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

// Setting says how to start a crawl.
type Setting struct {
	Dir, WARC string // WARC may be ""
	Config    frontier.Config
	Seeds     []page.URL
	Options   crawler.Options
	Fetch     fetch.Options
	// Render and Renderer are those of repository.Options.
	Render   string
	Renderer observers.Renderer
	// Say is called for each step of the crawl, if set: begin, fetched, visited.
	Say func(event, what string)
	// Made receives the crawler before it runs, if set.
	Made func(*crawler.Crawler)
}

// NewSetting is a crawl of the seeds' hosts. It is quick where a crawl of other
// people's hosts is slow, but still polite: a delay, one request at a time, two
// attempts.
func NewSetting(dir string, delay time.Duration, seeds ...page.URL) Setting {
	return Setting{
		Dir: filepath.Join(dir, "data"), WARC: filepath.Join(dir, "warc"), Seeds: seeds,
		Config: frontier.Config{Scope: "host", MaxDepth: -1},
		Options: crawler.Options{
			Politeness: crawler.Politeness{MinDelay: delay, DelayFactor: -1, Backoff: 30 * time.Millisecond, MaxBackoff: 100 * time.Millisecond},
			Revisits:   crawler.Revisits{Retry: 10 * time.Millisecond, MaxStrikes: 2},
			MaxWait:    5 * time.Second,
			Seed:       1,
		},
		Fetch: fetch.Options{AllowPrivate: true, MaxBody: 1 << 20},
	}
}

// Session is an open data directory with a crawl.
type Session struct {
	Setting
	Repo  *repository.Repository
	Crawl *frontier.Crawl
	Front *frontier.Frontier // of the last Run
	// Status is the crawler's status at the end of the last Run.
	Status crawler.Status
}

// Open opens the data directory, as the command crawl does.
func Open(ctx context.Context, s Setting) (*Session, error) {
	afterForks()
	crawl := &frontier.Crawl{}
	repo, err := repository.Open(ctx, s.Dir, repository.Options{
		Crawl:  func(ctx context.Context, db *txn.DB) ([]notify.Observer, error) { return crawl.Resume(ctx, db, true) },
		Render: s.Render, Renderer: s.Renderer,
	})
	if err != nil {
		return nil, err
	}
	return &Session{Setting: s, Repo: repo, Crawl: crawl}, nil
}

// afterForks waits for processes that other tests are starting. Between fork and exec, such a
// process has the files of this one, and so the lock of a data directory that was just closed.
func afterForks() {
	syscall.ForkLock.RLock() // a goroutine that starts a process holds the lock until exec
	defer syscall.ForkLock.RUnlock()
}

// Run crawls until nothing is due, and waits until everything is in the index.
func (s *Session) Run(ctx context.Context) (err error) {
	if err := s.Crawl.Begin(ctx, s.Repo.DB(), s.Config, s.Seeds); err != nil {
		return err
	}
	fetcher := fetch.New(s.Fetch)
	defer fetcher.Close()
	var c *crawler.Crawler
	wake := func(host string) { c.Wake(host) }
	s.Front = frontier.New(s.Repo.DB(), s.Repo, s.Crawl, wake)
	var recorder crawler.Recorder
	if s.WARC != "" {
		r, openErr := s.openArchive(ctx)
		if openErr != nil {
			return openErr
		}
		defer func() {
			end := r.Close
			if c.Failed() {
				end = r.Leave
			}
			err = errors.Join(err, end())
		}()
		recorder = r
	}
	o := s.Options
	o.Quiesce = s.Repo.Quiesce
	o.Loaded = func(ctx context.Context, f page.Fetch) error {
		_, err := s.Repo.Load(ctx, &f)
		return err
	}
	c = crawler.New(o, reportingFrontier{s.Front, s.say}, reportingFetcher{fetcher, s.say}, recorder)
	s.Crawl.Wake(wake)
	if s.Made != nil {
		s.Made(c)
	}
	err = c.Run(ctx)
	s.Status = c.Status(0)
	if err != nil {
		return err
	}
	return s.Repo.Quiesce(context.WithoutCancel(ctx))
}

func (s *Session) openArchive(ctx context.Context) (*archive.Recorder, error) {
	if err := archive.EachLeft(s.WARC, func(f *page.Fetch) error {
		return frontier.LoadLost(ctx, s.Repo.DB(), s.Repo, f)
	}); err != nil {
		return nil, err
	}
	return archive.Open(s.WARC, fetch.UserAgent("", ""))
}

func (s *Session) say(event, what string) {
	if s.Say != nil {
		s.Say(event, what)
	}
}

// reportingFrontier is a frontier that reports its visits.
type reportingFrontier struct {
	*frontier.Frontier
	say func(event, what string)
}

func (f reportingFrontier) Visited(ctx context.Context, v crawler.Visit) error {
	f.say("visiting", string(v.Job.URL))
	err := f.Frontier.Visited(ctx, v)
	if err == nil {
		f.say("visited", string(v.Job.URL))
	}
	return err
}

type reportingFetcher struct {
	crawler.Fetcher
	say func(event, what string)
}

func (f reportingFetcher) Fetch(ctx context.Context, r fetch.Request) fetch.Result {
	f.say("begin", string(r.URL))
	res := f.Fetcher.Fetch(ctx, r)
	f.say("fetched", string(r.URL))
	return res
}

// MakeDue makes visited URLs due.
func (s *Session) MakeDue(t testing.TB, urls ...page.URL) {
	t.Helper()
	for _, u := range urls {
		due := crawler.Refusal{Job: crawler.Job{URL: u}, Rule: "test", Why: "it comes again", Again: time.Now().Add(-time.Second)}
		if err := s.Front.Refuse(t.Context(), due); err != nil {
			t.Fatal(err)
		}
	}
}

// Export returns the content of the index, and its digest.
func Export(t testing.TB, r *repository.Repository) (docs []export.Document, digest string) {
	t.Helper()
	var out bytes.Buffer
	res, err := r.Export(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(&out); ; {
		var doc export.Document
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			return docs, res.Digest
		} else if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
}

// Members returns the URLs in the index, by name, sorted.
func (w *Web) Members(docs []export.Document) (names []string) {
	for _, d := range docs {
		for _, u := range d.Members {
			names = append(names, w.nameOf(string(u)))
		}
	}
	slices.Sort(names)
	return names
}

// Verify compares the index with a full recomputation from the stored fetches.
func Verify(t testing.TB, r *repository.Repository) {
	t.Helper()
	report, err := verify.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Differences {
		t.Errorf("verify: %v", d)
	}
}

// Replay loads an archive into a fresh repository, and returns its documents and
// digest.
func Replay(t testing.TB, warcDir string) (docs []export.Document, digest string) {
	t.Helper()
	return ReplayWith(t, warcDir, repository.Options{})
}

// ReplayWith is Replay into a repository that is opened with options.
func ReplayWith(t testing.TB, warcDir string, opts repository.Options) (docs []export.Document, digest string) {
	t.Helper()
	return Export(t, openReplay(t, warcDir, opts))
}

// openReplay returns a new repository with everything in the WARC files of a directory. It is
// closed at the end of the test.
func openReplay(t testing.TB, warcDir string, opts repository.Options) *repository.Repository {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(warcDir, "*.warc.gz*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no WARC files in %s (%v)", warcDir, err)
	}
	r, err := repository.Open(context.Background(), t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	var inputs []replay.Input
	for _, f := range files {
		inputs = append(inputs, replay.File(f))
	}
	if err := replay.Run(t.Context(), r, inputs, replay.Options{}, &replay.Progress{}); err != nil {
		t.Fatal(err)
	}
	return r
}
