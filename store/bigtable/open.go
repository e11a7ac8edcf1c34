package bigtable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cloud.google.com/go/bigtable"
	"google.golang.org/api/option"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// Options of Open. The zero value is what most programs want.
type Options struct {
	// CallTimeout bounds each call, with all its repetitions; 0 means 30 seconds. A scan may
	// take longer while it makes progress.
	CallTimeout time.Duration
	// Delay is how long a read, or a write without guards, waits for others that can share
	// its request, if requests are under way already. 0 means a millisecond; a negative
	// number sends each alone.
	Delay time.Duration
	// Client are options of Google's client, such as credentials. Usually the environment
	// provides them (GOOGLE_APPLICATION_CREDENTIALS, or the machine's service account;
	// BIGTABLE_EMULATOR_HOST for an emulator).
	Client []option.ClientOption
}

const (
	defaultCallTimeout = 30 * time.Second
	defaultDelay       = time.Millisecond
)

// limits: Bigtable allows keys of 4 KiB, one byte of which is ours. Names of columns are
// bounded by the size of filters, in which each occurs twice: ten guards with the longest
// names still fit. A value may have 100 MiB, and a row 256 MiB; the bounds here are those of
// a table in a directory.
var limits = store.Limits{
	MaxRowBytes:    4<<10 - 1,
	MaxColumnBytes: 1 << 10,
	MaxValueBytes:  8 << 20,
	MaxBatchBytes:  8<<20 + 64<<10,
	MaxTS:          maxTS,
}

// opOverhead is what a mutation counts besides its row, column and value. With it a batch of
// MaxBatchBytes has fewer than 50,000 mutations, which are fewer than 100,000 operations of
// Bigtable, its limit.
const opOverhead = 180

// DB is a table in Bigtable. It implements store.Table.
type DB struct {
	client      *bigtable.Client
	main        *bigtable.Table
	own         *bigtable.Table // of groups with OwnTable; nil if there are none
	groups      []group         // by number
	checker     engine.Checker
	gate        engine.Gate
	callTimeout time.Duration
	counters    counters

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	reads  batcher[*readCall]
	writes [2]batcher[*writeCall] // of main, of own
}

// Open opens the table that a URL names, or makes an empty one. Groups that the table does
// not have yet are added; it is an error to leave out one that it has, or to change its
// Latest or OwnTable.
//
// The error matches store.ErrForeign if the Bigtable table was made by another program; it
// is then left alone. It matches store.ErrNewerFormat if a newer version of this program made it.
func Open(ctx context.Context, setting string, groups []store.GroupSpec, opts Options) (*DB, error) {
	at, err := parse(setting)
	if err != nil {
		return nil, &store.SettingError{Err: err}
	}
	schema, err := engine.NewSchema(groups)
	if err != nil {
		return nil, err
	}
	db := &DB{
		callTimeout: cmp.Or(opts.CallTimeout, defaultCallTimeout),
		checker:     engine.Checker{Schema: schema, Limits: limits, Overhead: opOverhead},
	}
	if db.groups, err = placesOf(groups); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, db.callTimeout, errTimeout)
	defer cancel()
	if err := db.connect(ctx, at, opts); err != nil {
		return nil, fmt.Errorf("open %s: %w", setting, err)
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context, at location, opts Options) (err error) {
	tables := db.tables(at.prefix)
	dialled, err := at.dial(opts.Client)
	if err != nil {
		return err
	}
	admin, err := bigtable.NewAdminClient(ctx, at.project, at.instance, dialled...)
	if err != nil {
		return fmt.Errorf("store: bigtable: connect: %w", err)
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	for _, f := range tables {
		if err := prepare(ctx, admin, f); err != nil {
			return err
		}
	}
	if dialled, err = at.dial(opts.Client); err != nil { // again: each client closes its connection
		return err
	}
	// Metrics of the client would go to Cloud Monitoring, for which a deployment need not
	// have a permission. Sessions are another protocol to the same data, chosen by the
	// server for a part of the calls; neither the emulator nor these tests know it.
	db.client, err = bigtable.NewClientWithConfig(context.WithoutCancel(ctx), at.project, at.instance,
		bigtable.ClientConfig{AppProfile: at.profile, MetricsProvider: bigtable.NoopMetricsProvider{}, DisableSession: true}, dialled...)
	if err != nil {
		return fmt.Errorf("store: bigtable: connect: %w", err)
	}
	for i, f := range tables {
		t := db.client.Open(f.table)
		if err := describe(ctx, t, f); err != nil {
			return errors.Join(err, db.client.Close())
		}
		if i == 0 {
			db.main = t
		} else {
			db.own = t
		}
	}
	db.start(cmp.Or(opts.Delay, defaultDelay))
	return nil
}

// placesOf says where each group is. The order of those with OwnTable determines their keys.
func placesOf(specs []store.GroupSpec) (groups []group, err error) {
	own := 0
	for _, spec := range specs {
		g := group{GroupSpec: spec}
		if g.family, err = familyOf(spec.Name); err != nil {
			return nil, err
		}
		if spec.OwnTable {
			if own == len(ownShards) {
				return nil, fmt.Errorf("store: locality group %q: Bigtable tables have keys for %d groups in a table of their own", spec.Name, own)
			}
			g.shards, own = ownShards[own], own+1
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// tables lists the Bigtable tables: the main one first, then the one for groups with
// OwnTable, if there are any.
func (db *DB) tables(prefix string) []families {
	main, own := families{table: prefix, described: db.groups}, families{table: prefix + notifySuffix}
	for _, g := range db.groups {
		if !g.OwnTable {
			main.groups = append(main.groups, g)
			continue
		}
		own.groups = append(own.groups, g)
		for _, d := range g.shards {
			own.splits = append(own.splits, string(d))
		}
	}
	if len(own.groups) == 0 {
		return []families{main}
	}
	own.described, own.splits = own.groups, own.splits[1:]
	return []families{main, own}
}

func (db *DB) start(delay time.Duration) {
	db.ctx, db.cancel = context.WithCancel(context.Background())
	db.reads = batcher[*readCall]{delay: delay, send: db.sendReads, fits: readsFit}
	for i, t := range []*bigtable.Table{db.main, db.own} {
		db.writes[i] = batcher[*writeCall]{delay: delay, fits: writesFit, send: func(calls []*writeCall) { db.sendWrites(t, calls) }}
	}
}

// Limits implements store.Table.
func (db *DB) Limits() store.Limits { return limits }

// Groups implements store.Table.
func (db *DB) Groups() []store.GroupSpec { return db.checker.Schema.Specs() }

// Close waits for running calls and disconnects. It must not be called from within a Scan.
func (db *DB) Close() error {
	if !db.gate.Close() {
		return nil
	}
	// Callers whose context ended have left requests behind. Their outcome is ignored.
	db.cancel()
	var wg sync.WaitGroup
	wg.Go(db.reads.wait)
	for i := range db.writes {
		wg.Go(db.writes[i].wait)
	}
	wg.Wait()
	if err := db.client.Close(); err != nil {
		return fmt.Errorf("store: bigtable: disconnect: %w", err)
	}
	return nil
}

// bounded returns a context that ends with ctx, or when a call has taken too long.
func (db *DB) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, db.callTimeout, errTimeout)
}

// group returns a group that is known to exist.
func (db *DB) group(name string) *group {
	i, err := db.checker.Schema.Group(name)
	if err != nil {
		return nil // callers have checked the name
	}
	return &db.groups[i]
}
