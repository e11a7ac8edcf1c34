package scalebench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// The work that is measured.
const (
	Transactions = "transactions"
	Pages        = "pages"
)

// worker is one of the workers: in a goroutine of this process with a table in memory, and
// in a process of its own with a database.
type worker struct {
	Work    string
	Oracle  string // its address
	Threads int
	Dir     string // a data directory
	Seed    uint64
	// report is called repeatedly with the total progress of the worker.
	report func(Progress)
}

// Progress is the work of a worker since it began.
type Progress struct {
	Done  float64 `json:"done"` // transactions, or rows handled by observers that any worker runs
	Calls Calls   `json:"calls"`
}

// reportEvery is how often a worker reports.
const reportEvery = 20 * time.Millisecond

// run works until ctx ends.
func (w *worker) run(ctx context.Context, table *slow) (err error) {
	together, c, err := join(ctx, table, w.Oracle)
	if err != nil {
		return fmt.Errorf("join the deployment: %w", err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if w.Work == Transactions {
		return w.transfer(ctx, table, together)
	}
	return w.observe(ctx, table, together)
}

// reportUntil reports until ctx ends.
func (w *worker) reportUntil(ctx context.Context, table *slow, done func() float64) {
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.report(Progress{done(), table.calls()})
		}
	}
}

// observe is `indexer worker` without leases. The notifications of observers that have one
// owner at a time stay in the table, and scans pass over them.
func (w *worker) observe(ctx context.Context, table *slow, together *txn.Coordination) (err error) {
	repo, err := repository.Open(ctx, w.Dir, repository.Options{
		Workers: w.Threads, Backlog: backlog, Trace: -1,
		Table: func(context.Context, []store.GroupSpec) (store.Table, error) { return table, nil },
		Share: &repository.Share{Coordination: together, Works: true},
	})
	if err != nil {
		return err
	}
	shared := sharedObservers()
	w.reportUntil(ctx, table, func() (n float64) {
		for _, o := range repo.Live().Observers {
			if shared[o.Observer] {
				n += float64(o.Rows)
			}
		}
		return n
	})
	return errors.Join(repo.Failure(), repo.Close())
}

// sharedObservers are those that any worker may run.
func sharedObservers() map[string]bool {
	shared := make(map[string]bool)
	for _, o := range (observers.Options{}).Observers() {
		shared[o.Name] = o.Lease == ""
	}
	return shared
}

// accounts is the number of rows. Each transaction chooses two; with this many, conflicts
// are rare.
const accounts = 20_000

var balance = txn.Column{Group: "app", Name: "balance"}

func account(i int) string { return fmt.Sprintf("account/%08x", uint32(i)*2654435761) }

// fillAccounts writes the rows.
func fillAccounts(ctx context.Context, table store.Table, together *txn.Coordination) (err error) {
	db, err := txn.Open(ctx, table, txn.Options{Coordination: together})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	const chunk = 200
	for from := 0; from < accounts; from += chunk {
		_, err := db.Run(ctx, func(tx *txn.Txn) error {
			for i := from; i < min(from+chunk, accounts); i++ {
				tx.Set(account(i), balance, []byte{100})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// transfer reads two rows and writes both, again and again.
func (w *worker) transfer(ctx context.Context, table *slow, together *txn.Coordination) (err error) {
	db, err := txn.Open(ctx, table, txn.Options{Coordination: together})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var g errgroup.Group
	for thread := range w.Threads {
		g.Go(func() error {
			random := rand.New(rand.NewPCG(w.Seed, uint64(thread)))
			for ctx.Err() == nil {
				from := random.IntN(accounts)
				to := (from + 1 + random.IntN(accounts-1)) % accounts
				_, err := db.Run(ctx, func(tx *txn.Txn) error { return move(ctx, tx, account(from), account(to)) })
				if err != nil && ctx.Err() == nil {
					return err
				}
			}
			return nil
		})
	}
	w.reportUntil(ctx, table, func() float64 { return float64(db.Counters().Committed.Load()) })
	return g.Wait()
}

// move moves one coin.
func move(ctx context.Context, tx *txn.Txn, from, to string) error {
	a, err := tx.Get(ctx, from, balance)
	if err != nil {
		return err
	}
	b, err := tx.Get(ctx, to, balance)
	if err != nil {
		return err
	}
	if len(a.Data) != 1 || len(b.Data) != 1 {
		return errors.New("an account has no balance")
	}
	tx.Set(from, balance, []byte{a.Data[0] - 1})
	tx.Set(to, balance, []byte{b.Data[0] + 1})
	return nil
}
