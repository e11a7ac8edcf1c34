package repository_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

// fleet is several repositories on one table, as if each were a process on a machine of its
// own.
type fleet struct {
	t           *testing.T
	table       func(context.Context, []store.GroupSpec) (store.Table, error)
	coordinator *sharedtest.Coordinator

	collectEvery time.Duration
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	return &fleet{t: t, table: plainTable(t), coordinator: sharedtest.New()}
}

type member struct {
	*repository.Repository
	process *sharedtest.Process
}

// join adds a process. leases are those that a worker wants; nil is a loader.
func (f *fleet) join(works bool, leases ...string) *member {
	f.t.Helper()
	return f.joinWith(repository.Options{}, works, leases...)
}

// joinWith adds a process with further options.
func (f *fleet) joinWith(opts repository.Options, works bool, leases ...string) *member {
	f.t.Helper()
	return f.joinAt(f.t.TempDir(), opts, works, leases...)
}

// joinAt adds a process with a data directory.
func (f *fleet) joinAt(dir string, opts repository.Options, works bool, leases ...string) *member {
	f.t.Helper()
	p := f.coordinator.Join()
	opts.Workers, opts.Backlog, opts.Table = 2, 100, f.table
	opts.Share = &repository.Share{Coordination: &txn.Coordination{Timestamps: p, Liveness: p, RowLocks: p}, Works: works, Leases: leases, CollectEvery: f.collectEvery}
	return &member{open(f.t, dir, opts), p}
}

// alone opens the repository as the only process of the table.
func (f *fleet) alone(dir string, shards int) *repository.Repository {
	f.t.Helper()
	p := f.coordinator.Join()
	return open(f.t, dir, repository.Options{Workers: 2, Backlog: 100, Table: f.table, Share: &repository.Share{
		Coordination: &txn.Coordination{Timestamps: p, Liveness: p, RowLocks: p}, Works: true, Alone: true, Shards: shards,
		Leases: []string{observers.LeaseRank, observers.LeaseIndex},
	}})
}

func (f *fleet) worker() *member { return f.join(true, observers.LeaseRank, observers.LeaseIndex) }

// indexHolder waits until one of the members keeps the index files.
func indexHolder(t *testing.T, list ...*member) *member {
	t.Helper()
	for {
		for _, m := range list {
			h, err := m.IndexHolder(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if h != nil && h.Token == m.process.Token() {
				return m
			}
		}
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("nobody keeps the index files")
		}
	}
}

// wantAlike: every process gives the same digest, and verify finds nothing, with the index
// files where they are.
func wantAlike(t *testing.T, want string, list ...*member) {
	t.Helper()
	holder := indexHolder(t, list...)
	for _, m := range list {
		rep, err := verify.Run(t.Context(), m.Repository)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range rep.Differences {
			if i < 5 {
				t.Errorf("%s: %s", m.process.Token(), d)
			}
		}
		if has := rep.Checked["index_files"] > 0; has != (m == holder) {
			t.Errorf("%s: %d index files checked, and the holder is %s", m.process.Token(), rep.Checked["index_files"], holder.process.Token())
		}
		if got := digestOf(t, m.Repository); got != want {
			t.Errorf("%s: digest %s, want %s", m.process.Token(), got, want)
		}
	}
}

// TestSharedDigest: a loader, and workers that join while it loads, leave the digest of a
// data directory.
func TestSharedDigest(t *testing.T) {
	wantSharedDigest(t, mustReadWeb(t, ownWebs))
}

// TestSharedDigestCorpus does it with a recorded crawl of a real site.
func TestSharedDigestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds of work")
	}
	wantSharedDigest(t, mustReadWeb(t, corpusPart(t, []string{"t0"}, "community")))
}

func wantSharedDigest(t *testing.T, fetches []page.Fetch) {
	t.Helper()
	want := undisturbed(t, fetches)
	f := newFleet(t)
	loader := f.join(false)
	list := []*member{loader, f.worker()}
	n := len(fetches)
	loading := make(chan error, 1)
	go func() {
		_, err := loadAll(t.Context(), loader.Repository, 3, fetches[:n/2], nil)
		loading <- err
	}()
	list = append(list, f.worker(), f.join(true))
	if err := <-loading; err != nil {
		t.Fatal(err)
	}
	load(t, loader.Repository, 3, fetches[n/2:])
	wantAlike(t, want, list...)
	for _, m := range list {
		if err := m.Failure(); err != nil {
			t.Error(err)
		}
		closeNow(t, m.Repository)
	}
}

// TestSharedLeasesMove: again and again the process that keeps the index files leaves, or is
// considered dead in the middle of its work and continues for a while. Its successor has
// everything.
func TestSharedLeasesMove(t *testing.T) {
	rng := testenv.Random(t)
	fetches := shuffled(rng, mustReadWeb(t, ownWebs))
	want := ownDigest(t)
	f := newFleet(t)
	loader := f.join(false)
	workers := []*member{f.worker(), f.worker()}
	if !loader.Sample().Elsewhere || workers[0].Sample().Elsewhere {
		t.Error("workers run the observers, and a loader does not")
	}
	rounds := testenv.Size(2, 4, 20)
	for round := range rounds {
		part := fetches[round*len(fetches)/rounds : (round+1)*len(fetches)/rounds]
		if _, err := loadAll(t.Context(), loader.Repository, 2, part, nil); err != nil {
			t.Fatal(err)
		}
		old := indexHolder(t, workers...)
		dies := rng.IntN(2) == 0
		if dies {
			old.process.Die()
		} else {
			closeNow(t, old.Repository)
		}
		workers = append(workers, f.worker())
		for i, m := range workers {
			if m == old {
				workers = append(workers[:i:i], workers[i+1:]...)
				break
			}
		}
		indexHolder(t, workers...)
		if dies {
			_ = old.Close() // it says why it had stopped, if it had noticed
		}
	}
	if err := loader.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantAlike(t, want, append(workers, loader)...)
	for _, m := range append(workers, loader) {
		closeNow(t, m.Repository)
	}
}

// TestLoaderFollowsNothing: a process that only loads never learns when its pages are searchable,
// and does not guess.
func TestLoaderFollowsNothing(t *testing.T) {
	f := newFleet(t)
	loader := f.join(false)
	fetch := &page.Fetch{URL: "https://lighthouse.example/", Time: time.Unix(1, 0), Status: 200, Body: []byte("a lamp")}
	if _, err := loader.Load(t.Context(), fetch); err != nil {
		t.Fatal(err)
	}
	if n := loader.Followed(); n != 0 {
		t.Errorf("it follows %d pages", n)
	}
	closeNow(t, loader.Repository)
}

// TestLoaderFoundDead: a loader that others have found dead loads nothing more, and no longer waits
// for the workers.
func TestLoaderFoundDead(t *testing.T) {
	f := newFleet(t)
	loader := f.join(false)
	fetch := &page.Fetch{URL: "https://lighthouse.example/", Time: time.Unix(1, 0), Status: 200, Body: []byte("a lamp")}
	if _, err := loader.Load(t.Context(), fetch); err != nil {
		t.Fatal(err)
	}
	loader.process.Die()
	if err := loader.Quiesce(t.Context()); !errors.Is(err, txn.ErrDead) {
		t.Errorf("it waits, and then: %v", err)
	}
	if _, err := loader.Load(t.Context(), fetch); !errors.Is(err, txn.ErrDead) {
		t.Errorf("it loads: %v", err)
	}
	if err := loader.Close(); !errors.Is(err, txn.ErrDead) {
		t.Errorf("it closes: %v", err)
	}
}

// TestAloneWithIndexOfAnother: a process that has the table to itself fails if the index files are
// those of another repository, because nobody else can take the lease. The files stay as they are.
func TestAloneWithIndexOfAnother(t *testing.T) {
	theirs, ours := t.TempDir(), t.TempDir()
	r := open(t, theirs, repository.Options{})
	load(t, r, 1, versions(1))
	closeNow(t, r)
	swapIndex(t, ours, readFiles(t, repository.IndexDir(theirs)))

	alone := newFleet(t).alone(ours, 1)
	_, err := loadAll(t.Context(), alone, 1, versions(1), nil)
	if err == nil {
		err = alone.Quiesce(t.Context())
	}
	if !errors.Is(err, repository.ErrOtherIndex) {
		t.Errorf("it loads and waits, and then: %v", err)
	}
	if err := alone.Close(); !errors.Is(err, repository.ErrOtherIndex) {
		t.Errorf("it closes: %v", err)
	}
	if !sameIndex(t, ours, theirs) {
		t.Error("the other repository's index files were changed")
	}
}

// TestAloneComparesIndexFiles: a process that has the table to itself makes index files, divided or
// not, and a verification or a check that begins at once waits for all of them.
func TestAloneComparesIndexFiles(t *testing.T) {
	for _, shards := range []int{1, 3} {
		f := newFleet(t)
		loader, worker := f.join(false), f.mustShardWorker(t.TempDir(), shards, false)
		load(t, loader.Repository, 1, versions(1))
		if err := worker.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		closeNow(t, loader.Repository)
		closeNow(t, worker.Repository)
		dir := t.TempDir()
		alone := f.alone(dir, shards)
		rep, err := verify.Run(t.Context(), alone)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Total > 0 || rep.Checked["index_files"] != rep.Checked["index_documents"] {
			t.Errorf("%d shards: %v; checked %v", shards, rep.Differences, rep.Checked)
		}
		closeNow(t, alone)
		alone = f.alone(dir, shards)
		check, err := alone.Check(t.Context(), quietly)
		if err != nil || check.Total > 0 || len(check.Index.Problems) > 0 || check.Index.Documents != rep.Checked["index_documents"] {
			t.Errorf("%d shards: check: %+v, %v", shards, check, err)
		}
		closeNow(t, alone)
	}
}

// TestSharedGarbage: the holder of a lease collects garbage while others work and read, and
// no reader misses a version.
func TestSharedGarbage(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)
	want := undisturbed(t, fetches)
	f := newFleet(t)
	f.collectEvery = 100 * time.Millisecond
	loader, a, b := f.join(false), f.worker(), f.join(true, repository.LeaseGarbage)
	load(t, loader.Repository, 2, fetches)
	for max(a.DB().SafePoint(), b.DB().SafePoint()) == 0 {
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("no garbage was collected")
		}
	}
	wantAlike(t, want, a, b, loader)
	for _, m := range []*member{b, a, loader} {
		closeNow(t, m.Repository)
	}
}
