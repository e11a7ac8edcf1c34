package histories_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/faulty"
	"github.com/webindexer/indexer/txn"
)

// load is what is recorded.
type load struct {
	mode         txn.Mode
	transactions int
	clients      int
	keys         int           // at a time
	dying        int           // one in this many clients dies in a step of its commit; 0 for none
	lockTTL      time.Duration // so that their locks are resolved while others work
	faults       []faulty.Plan // of the table
	locking      bool          // every read is one for update
	skewed       bool          // transactions read two keys and append to one

	// processes is how many DBs have the table, each as a process of its own, which join
	// connects with the others; 0 is one that has it alone.
	processes int
	join      func() *txn.Coordination
	midway    func() // called when half of the transactions have begun
}

// perKey is how many appends a key gets; then another one takes its place. Lists
// that grow for ever would be most of the history.
const perKey = 60

var column = txn.Column{Group: "app", Name: "list"}

// run is one run of a load.
type run struct {
	load
	t       *testing.T
	dbs     []*txn.DB
	rec     recorder
	values  atomic.Int64
	appends []atomic.Int64 // of each place among the keys

	mu      sync.Mutex
	ends    map[string]int
	certain map[int]bool // value → appended by a committed transaction (true), or by one that failed
}

// record runs the load on a table and returns its history, which ends with reads
// of every key by a new process on the table.
func record(t *testing.T, table store.Table, l load) []byte {
	t.Helper()
	r := &run{load: l, t: t, appends: make([]atomic.Int64, l.keys), ends: make(map[string]int), certain: make(map[int]bool)}
	wrapped := table
	for _, plan := range l.faults {
		wrapped, _ = faulty.Wrap(wrapped, plan)
	}
	for range max(1, l.processes) {
		r.dbs = append(r.dbs, r.open(wrapped, l.die))
	}
	r.work()
	for _, db := range r.dbs {
		c := db.Counters()
		t.Logf("%v, %d values, %d locks rolled forward, %d transactions back, %d waits",
			r.ends, r.values.Load(), c.RolledForward.Load(), c.RolledBack.Load(), c.LockWaits.Load())
	}
	r.close()
	r.dbs = []*txn.DB{r.open(table, nil)}
	r.readAll()
	r.close()
	return r.rec.text.Bytes()
}

// work runs the transactions.
func (r *run) work() {
	var (
		work sync.WaitGroup
		left atomic.Int64
	)
	left.Store(int64(r.transactions))
	for range r.clients {
		work.Go(func() {
			process := r.rec.process()
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				if n == int64(r.transactions/2) && r.midway != nil {
					r.midway()
				}
				if !r.transaction(process) {
					process = r.rec.process()
				}
			}
		})
	}
	work.Wait()
}

func (r *run) open(table store.Table, step func(string, txn.Cell) error) *txn.DB {
	opts := txn.Options{Mode: r.mode, Step: step, LockTTL: r.lockTTL}
	if r.join != nil {
		opts.Coordination = r.join()
	}
	db, err := txn.Open(context.Background(), table, opts)
	for ; errors.Is(err, faulty.ErrInjected); db, err = txn.Open(context.Background(), table, opts) {
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return db
}

// close ends all DBs. A shared one writes to the table as it ends; if that write is lost, the
// others ignore what it leaves as soon as its token has expired.
func (r *run) close() {
	for _, db := range r.dbs {
		if err := db.Close(); err != nil && !errors.Is(err, faulty.ErrInjected) {
			r.t.Error(err)
		}
	}
}

// die is Options.Step: now and then a client goes no further.
func (l load) die(string, txn.Cell) error {
	if l.dying > 0 && rand.IntN(l.dying) == 0 {
		return txn.ErrCrash
	}
	return nil
}

// key returns a key that is in use, and takes note of an append to it.
func (r *run) key(place int, appending bool) string {
	n := r.appends[place].Load()
	if appending {
		n = r.appends[place].Add(1)
	}
	return fmt.Sprintf("k%d.%d", place, n/perKey)
}

// plan draws the operations of a transaction.
func (r *run) plan() (ops []op) {
	if r.skewed {
		a, b := rand.IntN(r.keys), rand.IntN(r.keys)
		written := []int{a, b}[rand.IntN(2)]
		return []op{{key: r.key(a, false)}, {key: r.key(b, false)}, {append: true, key: r.key(written, true), value: int(r.values.Add(1))}}
	}
	for range 1 + rand.IntN(4) {
		if rand.IntN(2) == 0 {
			ops = append(ops, op{append: true, key: r.key(rand.IntN(r.keys), true), value: int(r.values.Add(1))})
		} else {
			ops = append(ops, op{key: r.key(rand.IntN(r.keys), false)})
		}
	}
	return ops
}

// transaction runs and records one; it returns false if the outcome is unknown.
func (r *run) transaction(process int) (known bool) {
	ops := r.plan()
	r.rec.event(process, "invoke", ops)
	done, err := r.do(r.dbs[process%len(r.dbs)], ops)
	kind := "ok"
	switch {
	case err == nil:
	case errors.Is(err, txn.ErrUnknown), errors.Is(err, txn.ErrCrash):
		kind, done = "info", ops
	default:
		kind, done = "fail", ops
	}
	r.rec.event(process, kind, done)
	r.note(kind, ops)
	if err != nil && kind == "fail" && !errors.Is(err, txn.ErrConflict) && !errors.Is(err, errAborted) && !errors.Is(err, faulty.ErrInjected) {
		r.t.Errorf("a transaction failed: %v", err)
	}
	return kind != "info"
}

var errAborted = errors.New("the client changed its mind")

func (r *run) do(db *txn.DB, ops []op) (done []op, err error) {
	ctx := context.Background()
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	done = slices.Clone(ops)
	for i, o := range done {
		runtime.Gosched() // transactions should overlap, even when nothing makes them wait
		list, err := r.read(ctx, tx, o)
		if err != nil {
			return nil, err
		}
		if o.append {
			tx.Set(o.key, column, encodeList(append(list, o.value)))
		} else {
			done[i].read = list
		}
	}
	if rand.IntN(20) == 0 {
		return nil, errAborted
	}
	_, err = tx.Commit(ctx)
	return done, err
}

func (r *run) read(ctx context.Context, tx *txn.Txn, o op) ([]int, error) {
	get := tx.Get
	if r.locking {
		get = tx.GetForUpdate
	}
	v, err := get(ctx, o.key, column)
	if err != nil {
		return nil, err
	}
	return decodeList(v.Data)
}

// note keeps what the final reads must, and must not, show.
func (r *run) note(kind string, ops []op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends[kind]++
	for _, o := range ops {
		if o.append && kind != "info" {
			r.certain[o.value] = kind == "ok"
		}
	}
}

// readAll reads every key that there was, and compares: no append that committed is
// missing, and none that failed is there.
func (r *run) readAll() {
	process := r.rec.process()
	there := make(map[int]bool)
	for place := range r.keys {
		for n := int64(0); n <= r.appends[place].Load()/perKey; n++ {
			ops := []op{{key: fmt.Sprintf("k%d.%d", place, n)}}
			r.rec.event(process, "invoke", ops)
			done, err := r.do(r.dbs[0], ops)
			for errors.Is(err, errAborted) {
				done, err = r.do(r.dbs[0], ops)
			}
			if err != nil {
				r.t.Fatalf("read all: %v", err)
			}
			r.rec.event(process, "ok", done)
			for _, v := range done[0].read {
				if there[v] {
					r.t.Errorf("%d was appended twice", v)
				}
				there[v] = true
			}
		}
	}
	for v, committed := range r.certain {
		if there[v] != committed {
			r.t.Errorf("%d: committed %v, there %v", v, committed, there[v])
		}
	}
}
