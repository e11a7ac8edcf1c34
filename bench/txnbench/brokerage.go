package txnbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// BrokerageOptions of Brokerage.
type BrokerageOptions struct {
	Customers  int // one broker serves customersOfBroker of them
	Securities int
	Goroutines int
	Slice      time.Duration
	Log        io.Writer
}

// BrokerageRow is one way to pay the brokers, on one commit path.
type BrokerageRow struct {
	Path       string           `json:"path"`
	Commission string           `json:"commission"`
	Rate       float64          `json:"transactions_per_second"`
	PerCore    float64          `json:"transactions_per_core_second"` // by the processor time used; 0 where it is not known
	Retries    float64          `json:"retries_per_transaction"`
	Kinds      map[string]int64 `json:"committed"`
	Combined   float64          `json:"combining_seconds"` // after the end, until the last commission was in its broker's row
}

// customersOfBroker is what the paper says of TPC-E: the average broker would be
// updated by each of a hundred customers.
const customersOfBroker = 100

// The ways a trade's commission reaches its broker.
const (
	// commissionDirect updates the broker's row in the transaction of the trade
	// result, as TPC-E has it.
	commissionDirect = "broker's row"
	// commissionSide appends to a side table, blindly, and sends the broker's row a
	// weak notification; an observer combines what has gathered. The paper's section
	// 3.3 says that one would do so in Percolator.
	commissionSide = "side table"
	// commissionNone omits it, as the paper did for its benchmark.
	commissionNone = "omitted"
)

// Brokerage is a workload in the manner of TPC-E (paper, section 3.3): trade
// orders, trade results, market feeds and customer positions, with the brokers'
// commissions in three ways. It is not TPC-E: four of its transactions, in its
// proportions, over tables cut down to what they need. At the end all cash,
// holdings and commissions are computed anew from the trades, and must be equal.
func Brokerage(ctx context.Context, o BrokerageOptions) (rows []BrokerageRow, err error) {
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		for _, commission := range []string{commissionDirect, commissionSide, commissionNone} {
			r, err := measure.InTemp(func(dir string) (BrokerageRow, error) { return brokerage(ctx, dir, mode, commission, o) })
			if err != nil {
				return nil, fmt.Errorf("txn brokerage: commission: %s: %w", commission, err)
			}
			rows = append(rows, r)
			fmt.Fprintln(o.Log, r.String())
		}
	}
	return rows, nil
}

func brokerage(ctx context.Context, dir string, mode txn.Mode, commission string, o BrokerageOptions) (row BrokerageRow, err error) {
	row = BrokerageRow{Path: pathNames[mode], Commission: commission, Kinds: map[string]int64{}}
	f := newFirm(o, commission)
	registry, err := notify.NewRegistry(notify.Observer{Name: "combine", Watches: brokerColumn, Weak: true, Run: f.combine})
	if err != nil {
		return row, err
	}
	pipeline := notify.New(registry, notify.Options{Workers: 2})
	// The broker's row is woken by a weak notification only, not by being written.
	watch := func(c txn.Column) []string {
		if c == brokerColumn {
			return registry.Observers(c)
		}
		return nil
	}
	opts := txn.Options{Mode: mode, Observers: watch, Handover: pipeline.Handover}
	err = withDB(ctx, dir, opts, badgerdb.Options{}, func(db *txn.DB) (err error) {
		f.db = db
		if err := f.openAccounts(ctx); err != nil {
			return err
		}
		if err := pipeline.Start(ctx, db); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, pipeline.Stop()) }()
		cpu := measure.ProcessorTime()
		row.Rate, err = rate(ctx, o.Goroutines, o.Slice, f.transaction)
		if err != nil {
			return err
		}
		done := int64(0)
		for k, n := range f.kinds() {
			row.Kinds[k] = n
			done += n
		}
		ended := time.Now()
		if _, err := pipeline.Quiesce(ctx); err != nil {
			return err
		}
		row.Combined = time.Since(ended).Seconds()
		if used := measure.ProcessorTime() - cpu; used > 0 { // includes combining the remaining rows
			row.PerCore = float64(done) / used.Seconds()
		}
		row.Retries = float64(f.retries.Load()) / float64(max(done, 1))
		return f.audit(ctx)
	})
	return row, err
}

var pathNames = map[txn.Mode]string{txn.OnePhase: "one-phase", txn.TwoPhase: "two-phase"}

// String is the row as a line.
func (r *BrokerageRow) String() string {
	return fmt.Sprintf("brokerage  %-9s  commission: %-12s  %7.0f tx/s  %7.0f tx/s per core  %.3f retries each  %.2f s to combine the rest  %d orders, %d results, %d feeds, %d positions",
		r.Path, r.Commission, r.Rate, r.PerCore, r.Retries, r.Combined, r.Kinds[orders], r.Kinds[results], r.Kinds[feeds], r.Kinds[positions])
}

// transaction draws one of the four, in about the proportions of TPC-E, in which
// orders and results are each a tenth and what only reads is most.
func (f *firm) transaction(ctx context.Context, rng *rand.Rand) error {
	switch n := rng.IntN(100); {
	case n < 10:
		return f.tradeOrder(ctx, rng)
	case n < 20:
		return f.tradeResult(ctx, rng)
	case n < 21:
		return f.marketFeed(ctx, rng)
	default:
		return f.customerPosition(ctx, rng)
	}
}
