package repository_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

// shardWorker joins a worker in a directory, with a number of shards.
func (f *fleet) shardWorker(dir string, n int, reshard bool) (*member, error) {
	p := f.coordinator.Join()
	r, err := repository.Open(f.t.Context(), dir, repository.Options{
		Workers: 2, Backlog: 100, Table: f.table,
		Share: &repository.Share{Coordination: &txn.Coordination{Timestamps: p, Liveness: p, RowLocks: p}, Works: true, Leases: []string{observers.LeaseRank, observers.LeaseIndex}, Shards: n, Reshard: reshard},
	})
	return &member{r, p}, err
}

func (f *fleet) mustShardWorker(dir string, n int, reshard bool) *member {
	f.t.Helper()
	m, err := f.shardWorker(dir, n, reshard)
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

// waitShards waits until the members hold these numbers of shards.
func waitShards(t *testing.T, want []int, of int, list ...*member) {
	t.Helper()
	for {
		have := make([]int, len(list))
		for i, m := range list {
			for n := range of {
				if m.HoldsShard(n, of) {
					have[i]++
				}
			}
		}
		if slices.Equal(have, want) {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatalf("shards are held %v, want %v", have, want)
		}
	}
}

// wantShards: every worker verifies its shards, which are all of the index together.
func wantShards(t *testing.T, want string, list ...*member) {
	t.Helper()
	documents, total := 0, 0
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
		documents += rep.Checked["index_files"]
		total = rep.Checked["index_documents"]
		check, err := m.Check(t.Context(), quietly)
		if err != nil || check.Total > 0 || len(check.Index.Problems) > 0 {
			t.Errorf("check: %+v, %v", check, err)
		}
		if got := digestOf(t, m.Repository); got != want {
			t.Errorf("%s: digest %s, want %s", m.process.Token(), got, want)
		}
	}
	if documents != total || total == 0 {
		t.Errorf("%d documents in the shards, want %d", documents, total)
	}
}

// TestIndexShards: workers join, die and return in the middle of loading. The shards follow,
// and have everything; fetches of unchanged pages renew their times.
func TestIndexShards(t *testing.T) {
	rng := testenv.Random(t)
	fetches := newest(mustReadWeb(t, ownWebs))
	want := undisturbed(t, slices.Concat(fetches, aYearLater(fetches)))
	f := newFleet(t)
	const n = 4
	loader := f.join(false)
	dirs := []string{t.TempDir(), t.TempDir()}
	one := f.mustShardWorker(dirs[0], n, false)
	part := func(i int) {
		t.Helper()
		if _, err := loadAll(t.Context(), loader.Repository, 2, fetches[i*len(fetches)/4:(i+1)*len(fetches)/4], nil); err != nil {
			t.Fatal(err)
		}
	}
	part(0)
	two := f.mustShardWorker(dirs[1], n, false)
	part(1)
	waitShards(t, []int{2, 2}, n, one, two)
	part(2)
	if rng.IntN(2) == 0 {
		one.process.Die()
		waitShards(t, []int{4}, n, two)
		_ = one.Close() // it says why it had stopped, if it had noticed
	} else {
		closeNow(t, one.Repository)
	}
	part(3)
	waitShards(t, []int{4}, n, two)
	one = f.mustShardWorker(dirs[0], n, false) // with its files of then
	waitShards(t, []int{2, 2}, n, one, two)
	load(t, loader.Repository, 2, aYearLater(fetches))
	wantShards(t, want, one, two)
	if res, err := one.Reindex(t.Context(), nil); err != nil || res.Documents == 0 {
		t.Errorf("reindex: %+v, %v", res, err)
	}
	wantShards(t, want, one, two)
	for _, m := range []*member{one, two} {
		if err := m.Failure(); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.shardWorker(t.TempDir(), n+1, false); !errors.Is(err, repository.ErrOtherShards) {
		t.Errorf("a worker with another number of shards: %v", err)
	}
	if m, err := f.shardWorker(t.TempDir(), n+1, true); err == nil {
		closeNow(t, m.Repository)
		t.Error("the shards were divided anew while workers run")
	}
	closeNow(t, one.Repository)
	closeNow(t, two.Repository)
	for _, n := range []int{3, 1} { // the loader of before does not mind
		again := f.mustShardWorker(dirs[0], n, true)
		waitShards(t, []int{n}, n, again)
		if waiting, err := again.Waiting(t.Context()); err != nil || n == 1 && waiting[observers.TouchName] > 0 {
			t.Errorf("%d waiting for an observer that does not exist, %v", waiting[observers.TouchName], err)
		}
		wantShards(t, want, again)
		if n > 1 {
			leaveTouch(t, again.Repository)
		}
		closeNow(t, again.Repository)
	}
	closeNow(t, loader.Repository)
}

// leaveTouch leaves work for touch, which waits for more of it.
func leaveTouch(t *testing.T, r *repository.Repository) {
	t.Helper()
	_, err := r.DB().Run(t.Context(), func(tx *txn.Txn) error {
		tx.Notify(schema.ClusterRow(page.ContentKey{}), schema.Touched)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReturningHolder: a worker that kept the index files, and whose files another one has
// replaced by its own meanwhile, keeps them again.
func TestReturningHolder(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)
	want := undisturbed(t, fetches)
	f := newFleet(t)
	dirs := []string{t.TempDir(), t.TempDir()}
	loader := f.join(false)
	for i := range 4 {
		m := f.mustShardWorker(dirs[i%2], 1, false)
		if _, err := loadAll(t.Context(), loader.Repository, 2, fetches[i*len(fetches)/4:(i+1)*len(fetches)/4], nil); err != nil {
			t.Fatal(err)
		}
		waitShards(t, []int{1}, 1, m)
		if i == 3 {
			if err := loader.Quiesce(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantAlike(t, want, m)
		}
		closeNow(t, m.Repository)
	}
	closeNow(t, loader.Repository)
}

// TestShardNames: every name is read as it was made, and nothing else is a name.
func TestShardNames(t *testing.T) {
	for of := 1; of < 20; of++ {
		for i := range of {
			n, m, ok := repository.ParseShardName(repository.ShardName(i, of))
			if n != i || m != of || !ok {
				t.Errorf("shard %d of %d is read as %d of %d, %t", i, of, n, m, ok)
			}
		}
	}
	for _, name := range []string{"", "1", "4-of-4", "-1-of-4", "01-of-4", "1-of-4.new", "shard-000.sqlite", "1-of-", fmt.Sprint("0-of-", 0)} {
		if _, _, ok := repository.ParseShardName(name); ok {
			t.Errorf("%q is the name of a shard", name)
		}
	}
}

// TestReindexShardsTwice: a worker that rebuilds its shards for one command is asked to do so for
// another one. Each command gets its rebuild.
func TestReindexShardsTwice(t *testing.T) {
	w := newFleet(t).mustShardWorker(t.TempDir(), 2, false)
	waitShards(t, []int{2}, 2, w)
	began, release, results := make(chan bool), make(chan bool), make(chan error, 2)
	go func() {
		_, err := w.Reindex(t.Context(), func(int) {
			began <- true
			<-release
		})
		results <- err
	}()
	<-began
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := w.Reindex(ended, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a command that was interrupted while it waited: %v", err)
	}
	go func() {
		_, err := w.Reindex(t.Context(), nil)
		results <- err
	}()
	release <- true
	<-began // the other shard
	release <- true
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	closeNow(t, w.Repository)
}
