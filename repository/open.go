package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"github.com/webindexer/indexer/internal/trace"
	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository/counts"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/tablecopy"
	"github.com/webindexer/indexer/txn"
)

// Options of Open. Zero fields take defaults.
type Options struct {
	// Table opens the table of the repository, with the groups that it needs. Close closes
	// it. nil opens the store of the data directory, DIR/store.
	Table func(ctx context.Context, groups []store.GroupSpec) (store.Table, error)
	// Index is where documents are exported to. nil: index files in the data directory,
	// DIR/index. The caller closes it after the repository.
	Index Index
	// Share is set in a process that shares the table with others. nil: no other process
	// uses it.
	Share *Share
	// Workers is how many run observers; see notify.Options for the default.
	Workers int
	// Backlog is how many rows may wait for observers before Load waits; see notify.Options.
	Backlog int
	// Commit chooses the commit path of transactions.
	Commit txn.Mode
	// Memory is how many bytes of heap the whole program should use at most; 0 means the
	// default of the store.
	Memory int64
	// Sync makes everything that was acknowledged survive a failure of the machine, and not
	// only of the process.
	Sync bool
	// History is how long the past stays readable; see txn.Options.
	History time.Duration
	// Collect collects garbage in the background until Close.
	Collect bool
	// RankTolerance is the largest relative error of ranks. 0 keeps the tolerance of the
	// directory, which is schema.DefaultRankTolerance in a new one.
	RankTolerance float64
	// Office says whether office documents are indexed from now on. nil keeps the setting of
	// the directory, which is off in a new one.
	Office *bool
	// PDF says the same about PDF documents.
	PDF *bool
	// PDFReader reads PDF documents as they are loaded. nil: they are loaded as if the setting
	// were off.
	PDFReader loader.PDFReader
	// Render says which pages are rendered from now on: off, auto or all. "" keeps the setting
	// of the directory, which is off in a new one.
	Render string
	// Renderer renders pages. nil: there is no browser.
	Renderer observers.Renderer
	// Trace is how many rows of observers' runs are kept in memory for Repository.Trace. 0
	// means trace.DefaultRecords, and a negative number none.
	Trace int
	// Searchable is called with the URL row of each page that becomes searchable, with
	// the time of its load. nil: none.
	Searchable func(row string, loaded, searchable time.Time)
	// WithoutRanks leaves out ranks, for benchmarks of their cost.
	WithoutRanks bool
	// Crawl returns the observers of a crawl, if there is one. It is called once the store
	// can be read. nil: none.
	Crawl func(ctx context.Context, db *txn.DB) ([]notify.Observer, error)
	// Reindex rebuilds the index files first, even if they are missing, damaged or belong to
	// another repository. Repository.Reindex then returns the result.
	Reindex bool
	// A rebuild by Open calls Told from time to time with the number of clusters that it has
	// exported. Told may be nil.
	Told func(clusters int)
	// Log receives conflicts, failures and dead letters; nil logs nothing.
	Log *zap.Logger
}

// Repository is an open data directory whose observers are running.
type Repository struct {
	dir      string
	opened   time.Time
	table    store.Table
	db       *txn.DB
	pipeline *notify.Pipeline
	load     *loader.Loader
	files    indexFiles
	other    Index        // Options.Index
	shards   *indexShards // nil unless the index files are divided
	passes   observers.Passes
	tracker  *observers.Tracker
	tracing  tracing
	// unrendered counts pages that were not rendered, because there is no browser.
	unrendered atomic.Int64

	registry *notify.Registry
	share    *Share         // nil: no other process uses the table
	leases   *lease.Manager // nil unless the table is shared
	wants    map[string]lease.Want
	log      *zap.Logger
	// stopTask ends the task of a process that shares the table (runTask).
	stopTask  context.CancelFunc
	task      sync.WaitGroup
	collector *txn.Collector // nil unless Options.Collect is set

	// gate has allTurns turns. Every Load takes one, and Quiet takes all.
	gate *semaphore.Weighted
	// reindexing is held during a rebuild of the index files. rebuilt is the result of the
	// rebuild that Open made, until Reindex has returned it. replaceStranger says that the
	// files in place may be the only copy of something.
	reindexing *semaphore.Weighted
	rebuilt    *Reindexed
	// repaired says what was wrong with the index when it was opened.
	repaired        atomic.Pointer[string]
	wrote           written
	complete        bool // openIndex has succeeded
	graph           *observers.GraphCache
	graphNoted      uint64 // the number under which Close notes the graph (closedGraph)
	kept            atomic.Pointer[keptCounts]
	counted         *counts.Cache
	countedParts    int // number of cells that it was read from
	replaceStranger bool
	// solving admits one full solve of the ranks at a time.
	solving chan struct{}
}

// The store may take 1/storeShare of the memory. Another third is for updating ranks, and
// the rest for pages in progress and the index files.
const storeShare = 3

// The rows that wait for observers may take 1/queueShare of the memory, at queueRow bytes
// each. A full queue ends all debounces (notify.Pipeline.Admit), so a large load works
// with fewer interruptions if more rows have room.
const (
	queueShare = 20
	queueRow   = 400
)

// queueCapacity returns how many rows may wait in memory, or 0 for the default, which is the least.
func queueCapacity(memory int64) int {
	const least = 200_000
	if n := memory / queueShare / queueRow; n > least {
		return int(n)
	}
	return 0
}

// StoreDir returns the directory of the store.
func StoreDir(dir string) string { return filepath.Join(dir, "store") }

// IndexDir returns the directory of the index files.
func IndexDir(dir string) string { return filepath.Join(dir, "index") }

// Open opens or creates a data directory and starts its observers, which continue with pending
// work. Errors: store.ErrInUse, store.ErrForeign, store.ErrNewerFormat, their counterparts in
// package index, and ErrOtherIndex. After an error, stored data is unchanged.
func Open(ctx context.Context, dir string, opts Options) (_ *Repository, err error) {
	if opts.Log == nil {
		opts.Log = zap.NewNop()
	}
	r := &Repository{dir: dir, log: opts.Log, share: opts.Share, other: opts.Index, opened: time.Now().UTC(), tracker: observers.NewTracker(), counted: counts.NewCache(), gate: semaphore.NewWeighted(allTurns), reindexing: semaphore.NewWeighted(1), solving: make(chan struct{}, 1)}
	r.files.outage.log = opts.Log
	r.tracing.log = trace.NewLog(cmp.Or(opts.Trace, trace.DefaultRecords))
	r.tracker.Watch(func(row string, loaded, searchable time.Time) {
		r.tracing.log.Found(row, loaded, searchable)
		if opts.Searchable != nil {
			opts.Searchable(row, loaded, searchable)
		}
	})
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if opts.Share == nil || opts.Share.Works {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the data directory: %w", err)
		}
	}
	if r.table, err = openTable(ctx, dir, opts); err != nil {
		return nil, fmt.Errorf("open the repository: %w", err)
	}
	if err := CheckComplete(ctx, r.table); err != nil {
		return nil, fmt.Errorf("open the repository: %w", err)
	}
	return r, r.start(ctx, opts)
}

// Groups returns the locality groups of the table in a data directory.
func Groups() []store.GroupSpec {
	specs := txn.Groups(schema.Groups()...)
	for i := range specs {
		specs[i].Scanned = schema.Scanned(specs[i].Name)
	}
	return specs
}

// SharedGroups returns the locality groups of a table that several processes share.
func SharedGroups() []store.GroupSpec {
	return txn.Groups(append(schema.Groups(), lease.Group, schema.GroupDivision)...)
}

// ErrIncomplete means that the table is the target of a copy that has not ended.
var ErrIncomplete = errors.New("only a part of this store has been copied")

// CheckComplete returns ErrIncomplete if the table is the target of a copy that has not
// ended. Nothing else may use such a table: it lacks rows, and whatever is written to it
// makes the copy fail.
func CheckComplete(ctx context.Context, table store.Reader) error {
	half, err := tablecopy.Incomplete(ctx, table, txn.MetaGroup)
	if err != nil || !half {
		return err
	}
	return ErrIncomplete
}

func openTable(ctx context.Context, dir string, opts Options) (store.Table, error) {
	groups := Groups()
	if opts.Share != nil {
		groups = SharedGroups()
	}
	if opts.Table != nil {
		return opts.Table(ctx, groups)
	}
	db, err := badgerdb.Open(StoreDir(dir), groups, badgerdb.Options{
		SyncWrites: opts.Sync, MemoryBytes: opts.Memory / storeShare, Logger: opts.Log.Named("badger").Sugar(),
	})
	if err != nil {
		return nil, err // not db, which would be an interface that is not nil
	}
	return db, nil
}

// start opens the transaction layer and then starts the observers.
func (r *Repository) start(ctx context.Context, opts Options) error {
	if err := r.openDB(ctx, opts); err != nil {
		return err
	}
	var crawl []notify.Observer
	if opts.Crawl != nil {
		var err error
		if crawl, err = opts.Crawl(ctx, r.db); err != nil {
			return err
		}
	}
	if r.shared() {
		if err := r.agreeOnShards(ctx, opts); err != nil {
			return err
		}
	}
	if err := r.register(opts, crawl); err != nil {
		return err
	}
	if err := r.makePipeline(opts); err != nil {
		return err
	}
	if !r.shared() {
		if opts.Collect {
			if err := r.startCollector(ctx); err != nil { // before anything is written
				return err
			}
		}
		if err := r.match(ctx, opts); err != nil {
			return err
		}
	}
	r.load = loader.New(r.db, r.pipeline, func(row string) {
		if !r.Elsewhere() { // otherwise this process never learns when the page is searchable
			r.tracker.Loaded(row)
		}
		r.tracing.log.Loaded(row)
	})
	r.load.PDF = opts.PDFReader
	if err := r.startTracing(ctx); err != nil {
		return err
	}
	if r.shared() {
		return r.startShared(ctx)
	}
	return r.pipeline.Start(ctx, r.db)
}

// register makes the registry of all observers, including those of the crawl.
func (r *Repository) register(opts Options, crawl []notify.Observer) error {
	r.graph = r.newGraphCache()
	o := observers.Options{Graph: r.graph, Sink: &r.files, Tracker: r.tracker, Passes: &r.passes, KeepSum: !r.shared(), Renderer: opts.Renderer, Unrendered: &r.unrendered}
	if r.shards != nil {
		o.Sink, o.Shards = r.shards, ShardLeases(len(r.shards.list))
	}
	list := o.Observers()
	if opts.WithoutRanks {
		list = observers.Without(list, "rank", "rerank", "settle")
	}
	registry, err := notify.NewRegistry(append(list, crawl...)...)
	if err != nil {
		return err
	}
	r.registry = registry
	return nil
}

// makePipeline makes the pipeline that runs the observers. It does not start it.
func (r *Repository) makePipeline(opts Options) error {
	n := notify.Options{Workers: opts.Workers, Backlog: opts.Backlog, Capacity: queueCapacity(opts.Memory), Events: r.events()}
	if r.shared() {
		leases, err := r.newLeases(opts)
		if err != nil {
			return err
		}
		r.leases = leases
		n.Leases = leases
	}
	r.pipeline = notify.New(r.registry, n)
	return nil
}

// match makes the index files and the store match each other and the options before any
// observer runs.
func (r *Repository) match(ctx context.Context, opts Options) error {
	if err := r.openIndex(ctx, opts); err != nil {
		return err
	}
	if err := r.keepCounts(ctx); err != nil {
		return err
	}
	r.complete = true
	if err := r.matchRanks(ctx, opts.RankTolerance); err != nil {
		return err
	}
	return r.matchMeaning(ctx, opts)
}

// matchMeaning makes sure that stored pages mean what this program and its settings make of
// them.
func (r *Repository) matchMeaning(ctx context.Context, opts Options) error {
	if err := r.matchInterpreter(ctx); err != nil {
		return err
	}
	if err := r.matchFormat(ctx, &schema.OfficeFormat, opts.Office); err != nil {
		return err
	}
	if err := r.matchFormat(ctx, &schema.PDFFormat, opts.PDF); err != nil {
		return err
	}
	return r.matchRender(ctx, opts)
}

// DB returns the store, for readers and for whatever else runs transactions on it.
func (r *Repository) DB() *txn.DB { return r.db }

// Dir returns the data directory.
func (r *Repository) Dir() string { return r.dir }

// Backlog returns how many rows wait for observers.
func (r *Repository) Backlog() int { return r.pipeline.Backlog() }

// KeepsHistory reports whether the past stays readable even when nothing is reading it.
func (r *Repository) KeepsHistory() bool { return r.db.History() > 0 }

// Close waits for running observers and closes everything, each part before the parts that it
// uses: observers write to the index files and to the table. The next Open continues with the
// remaining work. No other call may be running.
func (r *Repository) Close() error {
	var errs []error
	if r.pipeline != nil {
		err := r.pipeline.Stop()
		if err == nil {
			err = r.noteClosed(context.Background())
		}
		errs = append(errs, err)
	}
	if r.collector != nil { // from now on nothing is written that it would miss
		errs = append(errs, r.collector.Stop(context.Background()))
	}
	r.warnUnrendered()
	errs = append(errs, r.tracing.stop())
	if r.stopTask != nil {
		r.stopTask()
		r.task.Wait()
	}
	if r.leases != nil { // all observers have ended
		r.leases.Halt() // this task may be opening the index files
		if r.shards != nil {
			errs = append(errs, r.shards.close())
		}
		errs = append(errs, r.files.close(), r.leases.Stop(context.Background()))
	}
	if r.db != nil {
		errs = append(errs, r.db.Close())
	}
	errs = append(errs, r.files.close())
	if r.table != nil {
		errs = append(errs, r.table.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	r.noteGraph()
	return nil
}

// loggedRows is how many rows of a failed run the log names. A batch may have 65,536 rows,
// and is halved until the failing row is alone.
const loggedRows = 3

// events logs failures of observers, and records all their runs for traces.
func (r *Repository) events() notify.Events {
	return notify.Events{
		Tried: r.tracing.log.Attempt,
		Conflict: func(observer string, rows []string, err error) {
			r.log.Debug("observer met a conflict", zap.String("observer", observer), zap.Int("rows", len(rows)), zap.Error(err))
		},
		StoreFailed: func(err error) { r.log.Warn("the store did not answer, will try again", zap.Error(err)) },
		Failed: func(observer string, rows []string, attempt int, err error) {
			if errors.Is(err, notify.ErrUnavailable) {
				return // see outage
			}
			first := make([]string, min(len(rows), loggedRows))
			for i := range first {
				first[i] = r.rowText(observer, rows[i])
			}
			r.log.Warn("observer failed, will try again", zap.String("observer", observer), zap.Int("rows", len(rows)), zap.Strings("first", first), zap.Int("attempt", attempt), zap.Error(err))
		},
		Dead: func(observer, row string, err error) {
			r.log.Error("observer gave up on a row; see `indexer dead list`", zap.String("observer", observer), zap.String("row", r.rowText(observer, row)), zap.Error(err))
		},
	}
}
