package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"indexer/internal/trace"
	"indexer/loader"
	"indexer/notify"
	"indexer/observers"
	"indexer/schema"
	"indexer/store/badgerdb"
	"indexer/txn"
)

// Options of Open. Zero fields take defaults.
type Options struct {
	// Workers run observers; notify.Options has the default.
	Workers int
	// Backlog bounds how many rows may wait before Load waits; see notify.Options.
	Backlog int
	// Commit chooses the commit path of transactions.
	Commit txn.Mode
	// Memory is how many bytes of heap the whole program should stay within; 0 stands for
	// the default of the store.
	Memory int64
	// Sync makes everything acknowledged survive a lost machine, not only a
	// killed process.
	Sync bool
	// History is how long the past stays readable; see txn.Options.
	History time.Duration
	// Collect collects garbage beside everything else, until Close.
	Collect bool
	// RankTolerance is the relative error that ranks keep to; 0 keeps to what the
	// directory has, schema.DefaultRankTolerance if it is new.
	RankTolerance float64
	// Trace is how many rows of observers' runs are remembered for Trace; 0 is
	// trace.DefaultRecords, and less than that is none.
	Trace int
	// Searchable is called with the URL row of each page that can be found from now on,
	// with the time of its load. nil: nobody is told.
	Searchable func(row string, loaded, searchable time.Time)
	// WithoutRanks leaves ranks out, for benchmarks of what they cost.
	WithoutRanks bool
	// Crawl makes the observers of a crawl, if there is one; it is called once the
	// store can be read. nil: none.
	Crawl func(ctx context.Context, db *txn.DB) ([]notify.Observer, error)
	// Reindex rebuilds the index files before anything else, whatever is in their place:
	// missing, damaged, or of somebody else. Repository.Reindex then tells of it.
	Reindex bool
	// Log hears of conflicts, failures and dead letters; nil for nothing.
	Log *zap.Logger
}

// Repository is an open data directory with its pipeline running.
type Repository struct {
	dir      string
	opened   time.Time
	table    *badgerdb.DB
	db       *txn.DB
	pipeline *notify.Pipeline
	load     *loader.Loader
	files    indexFiles
	tracker  *observers.Tracker
	tracing  tracing

	registry  *notify.Registry
	collector *txn.Collector // nil unless Options.Collect

	// gate is held shared by every Load and exclusively while a quiescent
	// snapshot is taken.
	gate sync.RWMutex
	// reindexing is held by the one rebuild of the index files at a time. rebuilt is that of Open, until it was told;
	// replaceStranger is whether files are in their place that may be the only copy of something.
	reindexing      sync.Mutex
	rebuilt         *Reindexed
	wrote           written
	replaceStranger bool
	// solving has room for one full solve of the ranks.
	solving chan struct{}
}

// storeShare is which part of the memory the store takes. Another third is for updating
// ranks, and the rest for pages in progress and the index files.
const storeShare = 3

// StoreDir and IndexDir are where the parts of a data directory are.
func StoreDir(dir string) string { return filepath.Join(dir, "store") }

// IndexDir is the directory of the index files.
func IndexDir(dir string) string { return filepath.Join(dir, "index") }

// Open opens or creates a data directory and starts its observers, which go on
// with whatever was left to do. Errors: store.ErrInUse, store.ErrForeign,
// store.ErrNewerFormat and the like of package index, ErrOtherIndex; nothing that
// is stored is changed then.
func Open(ctx context.Context, dir string, opts Options) (_ *Repository, err error) {
	if opts.Log == nil {
		opts.Log = zap.NewNop()
	}
	r := &Repository{dir: dir, opened: time.Now().UTC(), tracker: observers.NewTracker(), solving: make(chan struct{}, 1)}
	r.tracing.log = trace.NewLog(cmp.Or(opts.Trace, trace.DefaultRecords))
	r.tracker.Watch(func(row string, loaded, searchable time.Time) {
		r.tracing.log.Found(row, loaded, searchable)
		if opts.Searchable != nil {
			opts.Searchable(row, loaded, searchable)
		}
	})
	defer func() {
		if err != nil {
			err = errors.Join(err, r.closeParts())
		}
	}()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	r.table, err = badgerdb.Open(StoreDir(dir), txn.Groups(schema.Groups()...), badgerdb.Options{
		SyncWrites: opts.Sync, MemoryBytes: opts.Memory / storeShare, Logger: opts.Log.Named("badger").Sugar(),
	})
	if err != nil {
		return nil, fmt.Errorf("open the repository: %w", err)
	}
	return r, r.start(ctx, opts)
}

// start begins transactions, and then observers.
func (r *Repository) start(ctx context.Context, opts Options) error {
	// Which observers there are depends on what the store says. Nothing is written
	// before they are known.
	var registry *notify.Registry
	db, err := txn.Open(ctx, r.table, txn.Options{
		Mode:    opts.Commit,
		History: opts.History,
		Observers: func(c txn.Column) []string {
			if registry == nil {
				return nil
			}
			return registry.Observers(c)
		},
		Handover: func(notes []txn.Notification) { r.pipeline.Handover(notes) },
	})
	if err != nil {
		return err
	}
	r.db = db
	if n, err := db.ResolveAbandoned(ctx); err != nil {
		return err
	} else if n > 0 {
		opts.Log.Info("resolved the locks of a process that died", zap.Int("locks", n))
	}
	var crawl []notify.Observer
	if opts.Crawl != nil {
		if crawl, err = opts.Crawl(ctx, db); err != nil {
			return err
		}
	}
	list := observers.Options{Sink: &r.files, Tracker: r.tracker}.Observers()
	if opts.WithoutRanks {
		list = observers.Without(list, "rank", "rerank", "settle")
	}
	if registry, err = notify.NewRegistry(append(list, crawl...)...); err != nil {
		return err
	}
	r.pipeline = notify.New(registry, notify.Options{Workers: opts.Workers, Backlog: opts.Backlog, Events: r.events(opts.Log)})
	if err := r.openIndex(ctx, opts); err != nil {
		return err
	}
	if err := r.matchRanks(ctx, opts.RankTolerance); err != nil {
		return err
	}
	if err := r.matchInterpreter(ctx, opts.Log); err != nil {
		return err
	}
	r.registry = registry
	r.load = loader.New(r.db, r.pipeline, func(row string) {
		r.tracker.Loaded(row)
		r.tracing.log.Loaded(row)
	})
	if err := r.startTracing(ctx, opts); err != nil {
		return err
	}
	if err := r.pipeline.Start(ctx, r.db); err != nil {
		return err
	}
	return r.startCollector(ctx, opts)
}

// DB returns the store, for readers and for whatever else runs transactions on it.
func (r *Repository) DB() *txn.DB { return r.db }

// Dir returns the data directory.
func (r *Repository) Dir() string { return r.dir }

// Backlog returns how many rows wait for observers.
func (r *Repository) Backlog() int { return r.pipeline.Backlog() }

// KeepsHistory reports whether the past stays readable for longer than it is being read.
func (r *Repository) KeepsHistory() bool { return r.db.History() > 0 }

// Close lets the runs that are under way end and closes everything. What is
// left to do is done after the next Open. No other call may be running.
func (r *Repository) Close() error { return r.closeParts() }

// closeParts closes what was opened, in the order that lets each part still use
// the ones below: observers write to index files and table.
func (r *Repository) closeParts() error {
	var errs []error
	if r.collector != nil {
		errs = append(errs, r.collector.Stop(context.Background()))
	}
	if r.pipeline != nil {
		err := r.pipeline.Stop()
		if err == nil {
			err = r.noteApplied(context.Background())
		}
		errs = append(errs, err)
	}
	errs = append(errs, r.tracing.stop())
	if r.db != nil {
		errs = append(errs, r.db.Close())
	}
	errs = append(errs, r.files.close())
	if r.table != nil {
		errs = append(errs, r.table.Close())
	}
	return errors.Join(errs...)
}

// events writes what goes wrong in observers to the log, and all that they do to the
// traces.
func (r *Repository) events(log *zap.Logger) notify.Events {
	return notify.Events{
		Tried: r.tracing.log.Attempt,
		Conflict: func(observer string, rows []string, err error) {
			log.Debug("observer met a conflict", zap.String("observer", observer), zap.Int("rows", len(rows)), zap.Error(err))
		},
		Failed: func(observer string, rows []string, attempt int, err error) {
			log.Warn("observer failed, will try again", zap.String("observer", observer), zap.Strings("rows", rows), zap.Int("attempt", attempt), zap.Error(err))
		},
		Dead: func(observer, row string, err error) {
			log.Error("observer gave up on a row; see `indexer dead list`", zap.String("observer", observer), zap.String("row", row), zap.Error(err))
		},
	}
}
