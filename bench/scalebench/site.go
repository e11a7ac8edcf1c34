package scalebench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/bench/webgen"
	"github.com/webindexer/indexer/internal/tcpproxy"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/store/postgres"
)

// backlog is more than any measurement loads, so that loading never waits for workers.
const backlog = 1 << 20

// pagesPerHost is small, so that there are many hosts: on a large web, workers rarely have
// pages of one host at the same time, whose links go to the same few rows.
const pagesPerHost = 12

// site is where workers work: a table that is filled, and its oracle.
type site struct {
	*Options
	dir     string
	near    store.Table // without delay
	setting string      // by which workers reach the table; "" in memory
	oracle  string
	reader  *repository.Repository // of pages; runs nothing
	closers closers
}

// newSite fills a table.
func (o *Options) newSite(ctx context.Context, work, dir string) (_ *site, err error) {
	s := &site{Options: o, dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closers.close())
		}
	}()
	if s.near, err = s.openTable(ctx); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.near.Close)
	address, c, err := serveOracle(ctx, s.near)
	if err != nil {
		return nil, err
	}
	s.oracle = address
	s.closers = append(s.closers, c.close)
	return s, s.fill(ctx, work)
}

// openTable opens a table in memory, or in a schema of its own.
func (s *site) openTable(ctx context.Context) (store.Table, error) {
	if s.Store == "" {
		return mem.New(repository.SharedGroups(), mem.Options{TwoPhaseOnly: true})
	}
	database, err := measure.ParseDatabase(s.Store, fmt.Sprintf("scaling_%d", time.Now().UnixNano()))
	if err != nil {
		return nil, err
	}
	proxy, err := tcpproxy.Start(database.Server())
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error { proxy.Close(); return nil })
	proxy.Delay(s.Delay / 2)
	s.setting = database.At(proxy.Address())
	return postgres.Open(ctx, database.Setting(), repository.SharedGroups(), postgres.Options{})
}

// fill does what comes before the measurement, without delays.
func (s *site) fill(ctx context.Context, work string) error {
	together, c, err := join(ctx, s.near, s.oracle)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, c.close)
	if work == Transactions {
		return fillAccounts(ctx, s.near, together)
	}
	s.reader, err = repository.Open(ctx, filepath.Join(s.dir, "loader"), repository.Options{
		Backlog: backlog, Trace: -1,
		Table: func(context.Context, []store.GroupSpec) (store.Table, error) { return &slow{inner: s.near}, nil },
		Share: &repository.Share{Coordination: together},
	})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, s.reader.Close)
	web := webgen.New(s.Seed, s.Pages, max(1, s.Pages/pagesPerHost), webgen.DefaultWords)
	return web.Each(ctx, 8, func(ctx context.Context, f *page.Fetch) error {
		_, err := s.reader.Load(ctx, f)
		return err
	})
}

// left is how many notifications wait that any worker may handle.
func (s *site) left(ctx context.Context) (n int, err error) {
	waiting, err := s.reader.Waiting(ctx)
	shared := sharedObservers()
	for name, rows := range waiting {
		if shared[name] {
			n += rows
		}
	}
	return n, err
}

// cores is the processor time that the workers and this process have used. That of a
// process is known only after its end, so it is missing before.
func (s *site) cores() time.Duration {
	if s.setting != "" {
		return 0
	}
	return measure.ProcessorTime()
}

// work runs the workers until ctx ends.
func (s *site) work(ctx context.Context, c *crew, work string, workers int) error {
	g, ctx := errgroup.WithContext(ctx)
	for i := range workers {
		w := &worker{
			Work: work, Oracle: s.oracle, Threads: s.Threads, Dir: filepath.Join(s.dir, strconv.Itoa(i)), Seed: s.Seed + uint64(i),
			report: func(p Progress) { c.report(i, p) },
		}
		g.Go(func() error {
			if s.setting == "" {
				return w.run(ctx, &slow{inner: s.near, delay: s.Delay})
			}
			return w.process(ctx, s.setting)
		})
	}
	return g.Wait()
}
