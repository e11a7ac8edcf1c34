package txnbench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"github.com/webindexer/indexer/txn"
)

// firm is a brokerage firm. Its rows, all in one group:
//
//	account/C           cash of customer C, in cents
//	holding/C/S         how many of security S the customer holds
//	security/S          price, in cents
//	trade/T             customer, security, quantity, price, done or not
//	broker/B            commission earned, and trades counted
//	commission/B/T      the side table: commission of trade T, not yet in broker/B
type firm struct {
	db         *txn.DB
	commission string
	customers  int
	securities int
	trades     atomic.Int64
	submitted  chan int64 // trades that the market has yet to execute

	orders, results, feeds, positions atomic.Int64

	retries atomic.Int64 // of all of these
}

// The kinds of transactions in BrokerageRow.Kinds.
const (
	orders    = "trade order"
	results   = "trade result"
	feeds     = "market feed"
	positions = "customer position"
)

var (
	field        = txn.Column{Group: column.Group, Name: "v"}
	brokerColumn = txn.Column{Group: column.Group, Name: "b"}
)

const (
	openingCash  = 1_000_000_00
	openingPrice = 100_00
	feedTickers  = 20 // securities in one market feed
	maxSubmitted = 1 << 16
)

func newFirm(o BrokerageOptions, commission string) *firm {
	return &firm{
		commission: commission, customers: o.Customers, securities: o.Securities, submitted: make(chan int64, maxSubmitted),
	}
}

func (f *firm) kinds() map[string]int64 {
	return map[string]int64{
		orders: f.orders.Load(), results: f.results.Load(), feeds: f.feeds.Load(), positions: f.positions.Load(),
	}
}

func accountRow(c int64) string       { return "account/" + pad(c) }
func holdingRow(c, s int64) string    { return "holding/" + pad(c) + "/" + pad(s) }
func securityRow(s int64) string      { return "security/" + pad(s) }
func tradeRow(t int64) string         { return "trade/" + pad(t) }
func brokerRow(b int64) string        { return "broker/" + pad(b) }
func commissionRow(b, t int64) string { return "commission/" + pad(b) + "/" + pad(t) }

func pad(n int64) string { return fmt.Sprintf("%010d", n) }

// numbers are what a cell holds here.
func numbers(list ...int64) []byte {
	var b []byte
	for _, n := range list {
		b = binary.AppendVarint(b, n)
	}
	return b
}

func parseNumbers(b []byte, n int) ([]int64, error) {
	list := make([]int64, n)
	for i := range list {
		v, size := binary.Varint(b)
		if size <= 0 {
			return nil, fmt.Errorf("cell of %d bytes does not hold %d numbers", len(b), n)
		}
		list[i], b = v, b[size:]
	}
	return list, nil
}

// get reads the numbers of a cell, zeros if it is not there.
func get(ctx context.Context, tx *txn.Txn, row string, c txn.Column, n int) ([]int64, error) {
	v, err := tx.Get(ctx, row, c)
	if err != nil || !v.Exists {
		return make([]int64, n), err
	}
	list, err := parseNumbers(v.Data, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", row, err)
	}
	return list, nil
}

// run runs a transaction of a customer or of the market, and counts its retries.
func (f *firm) run(ctx context.Context, fn func(*txn.Txn) error) error {
	again := false
	_, err := f.db.Run(ctx, func(tx *txn.Txn) error {
		if again {
			f.retries.Add(1)
		}
		again = true
		return fn(tx)
	})
	return err
}

// openAccounts opens the accounts and lists the securities.
func (f *firm) openAccounts(ctx context.Context) error {
	const per = 1000
	for from := 0; from < max(f.customers, f.securities); from += per {
		_, err := f.db.Run(ctx, func(tx *txn.Txn) error {
			for i := from; i < from+per; i++ {
				if i < f.customers {
					tx.Set(accountRow(int64(i)), field, numbers(openingCash))
				}
				if i < f.securities {
					tx.Set(securityRow(int64(i)), field, numbers(openingPrice))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tradeOrder: a customer orders a trade, at the price of now.
func (f *firm) tradeOrder(ctx context.Context, rng *rand.Rand) error {
	t := f.trades.Add(1)
	c, s, quantity := rng.Int64N(int64(f.customers)), rng.Int64N(int64(f.securities)), 1+rng.Int64N(100)
	err := f.run(ctx, func(tx *txn.Txn) error {
		cash, err := get(ctx, tx, accountRow(c), field, 1)
		if err != nil {
			return err
		}
		held, err := get(ctx, tx, holdingRow(c, s), field, 1)
		if err != nil {
			return err
		}
		price, err := get(ctx, tx, securityRow(s), field, 1)
		if err != nil {
			return err
		}
		q := quantity
		if cash[0] < q*price[0] || held[0] >= q {
			q = -q // sell holdings, and sell short rather than run out of money
		}
		tx.Set(tradeRow(t), field, numbers(c, s, q, price[0], 0))
		return nil
	})
	if err != nil {
		return err
	}
	f.orders.Add(1)
	select {
	case f.submitted <- t:
	default: // the market is busy; the trade stays open
	}
	return nil
}

// commissionOf a trade is one per cent.
func commissionOf(quantity, price int64) int64 { return max(quantity, -quantity) * price / 100 }

// tradeResult: the market has executed a trade; cash, holding and trade change, and
// the broker earns a commission. With nothing submitted it is an order.
func (f *firm) tradeResult(ctx context.Context, rng *rand.Rand) error {
	var t int64
	select {
	case t = <-f.submitted:
	default:
		return f.tradeOrder(ctx, rng)
	}
	err := f.run(ctx, func(tx *txn.Txn) error {
		trade, err := get(ctx, tx, tradeRow(t), field, 5)
		if err != nil {
			return err
		}
		c, s, q, price := trade[0], trade[1], trade[2], trade[3]
		cash, err := get(ctx, tx, accountRow(c), field, 1)
		if err != nil {
			return err
		}
		held, err := get(ctx, tx, holdingRow(c, s), field, 1)
		if err != nil {
			return err
		}
		fee := commissionOf(q, price)
		tx.Set(accountRow(c), field, numbers(cash[0]-q*price-fee))
		tx.Set(holdingRow(c, s), field, numbers(held[0]+q))
		tx.Set(tradeRow(t), field, numbers(c, s, q, price, 1))
		return f.pay(ctx, tx, c/customersOfBroker, t, fee)
	})
	if err == nil {
		f.results.Add(1)
	}
	return err
}

// pay gives a broker a commission.
func (f *firm) pay(ctx context.Context, tx *txn.Txn, broker, trade, fee int64) error {
	switch f.commission {
	case commissionDirect:
		sum, err := get(ctx, tx, brokerRow(broker), field, 2)
		if err != nil {
			return err
		}
		tx.Set(brokerRow(broker), field, numbers(sum[0]+fee, sum[1]+1))
	case commissionSide:
		tx.Set(commissionRow(broker, trade), field, numbers(fee))
		tx.Notify(brokerRow(broker), brokerColumn)
	}
	return nil
}

// combine is the observer of the side table: it adds the rows that wait for a broker to
// the broker's row. It is the only writer there, so it has no conflicts; and each row
// of the side table is written once.
func (f *firm) combine(ctx context.Context, tx *txn.Txn, rows []string) error {
	for _, row := range rows {
		var broker int64
		if _, err := fmt.Sscanf(row, "broker/%d", &broker); err != nil {
			return fmt.Errorf("row %q is not a broker's: %w", row, err)
		}
		sum, err := get(ctx, tx, row, field, 2)
		if err != nil {
			return err
		}
		found := false
		err = tx.ScanPrefix(ctx, field.Group, "commission/"+pad(broker)+"/", func(side string, cols []txn.Version) error {
			fee, err := parseNumbers(cols[0].Data, 1)
			if err != nil {
				return fmt.Errorf("%s: %w", side, err)
			}
			sum[0], sum[1], found = sum[0]+fee[0], sum[1]+1, true
			tx.Delete(side, field)
			return nil
		})
		if err != nil {
			return err
		}
		if found {
			tx.Set(row, field, numbers(sum...))
		}
	}
	return nil
}

// marketFeed: the prices of some securities move.
func (f *firm) marketFeed(ctx context.Context, rng *rand.Rand) error {
	first, moves := rng.Int64N(int64(f.securities)), rng.Int64N(1<<feedTickers)
	err := f.run(ctx, func(tx *txn.Txn) error {
		for i := range int64(min(feedTickers, f.securities)) {
			row := securityRow((first + i) % int64(f.securities))
			price, err := get(ctx, tx, row, field, 1)
			if err != nil {
				return err
			}
			move := int64(1)
			if moves>>i&1 == 0 {
				move = -1
			}
			tx.Set(row, field, numbers(max(price[0]+move, 1)))
		}
		return nil
	})
	if err == nil {
		f.feeds.Add(1)
	}
	return err
}

// customerPosition: what a customer's cash and holdings are worth.
func (f *firm) customerPosition(ctx context.Context, rng *rand.Rand) error {
	c := rng.Int64N(int64(f.customers))
	tx, err := f.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := get(ctx, tx, accountRow(c), field, 1); err != nil {
		return err
	}
	prefix := "holding/" + pad(c) + "/"
	err = tx.ScanPrefix(ctx, field.Group, prefix, func(row string, _ []txn.Version) error {
		s, err := strconv.ParseInt(row[len(prefix):], 10, 64)
		if err != nil {
			return fmt.Errorf("row %q: %w", row, err)
		}
		_, err = get(ctx, tx, securityRow(s), field, 1)
		return err
	})
	if err == nil {
		f.positions.Add(1)
	}
	return err
}
