package txnbench

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/webindexer/indexer/txn"
)

// books are the numbers of the firm by row, as they are or as they should be.
type books map[string][2]int64

// audit computes accounts, holdings and commissions anew from the trades, and
// compares them with what the transactions left. It needs everything to be quiet.
func (f *firm) audit(ctx context.Context) error {
	tx, err := f.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	want, err := f.fromTrades(ctx, tx)
	if err != nil {
		return err
	}
	have := books{}
	for prefix, n := range map[string]int{"account/": 1, "holding/": 1, "broker/": 2} {
		err := tx.ScanPrefix(ctx, field.Group, prefix, func(row string, cols []txn.Version) error {
			list, err := parseNumbers(cols[0].Data, n)
			if err != nil {
				return fmt.Errorf("%s: %w", row, err)
			}
			have[row] = [2]int64(append(list, 0, 0))
			return nil
		})
		if err != nil {
			return err
		}
	}
	side := 0
	err = tx.ScanPrefix(ctx, field.Group, "commission/", func(string, []txn.Version) error {
		side++
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(differ(have, want), leftOver(side))
}

func leftOver(side int) error {
	if side > 0 {
		return fmt.Errorf("%d commissions were never combined", side)
	}
	return nil
}

func (f *firm) fromTrades(ctx context.Context, tx *txn.Txn) (books, error) {
	want := books{}
	for c := range int64(f.customers) {
		want[accountRow(c)] = [2]int64{openingCash}
	}
	results := int64(0)
	err := tx.ScanPrefix(ctx, field.Group, "trade/", func(row string, cols []txn.Version) error {
		t, err := parseNumbers(cols[0].Data, 5)
		if err != nil {
			return fmt.Errorf("%s: %w", row, err)
		}
		if t[4] == 0 {
			return nil
		}
		results++
		c, s, q, price := t[0], t[1], t[2], t[3]
		fee := commissionOf(q, price)
		want.add(accountRow(c), -q*price-fee, 0)
		want.add(holdingRow(c, s), q, 0)
		if f.commission != commissionNone {
			want.add(brokerRow(c/customersOfBroker), fee, 1)
		}
		return nil
	})
	if err == nil && results != f.results.Load() {
		err = fmt.Errorf("%d trades are done, and %d results were committed", results, f.results.Load())
	}
	return want, err
}

func (b books) add(row string, x, y int64) {
	n := b[row]
	b[row] = [2]int64{n[0] + x, n[1] + y}
}

// differ names one row in which the books do not agree.
func differ(have, want books) error {
	if maps.Equal(have, want) {
		return nil
	}
	for row, w := range want {
		if have[row] != w {
			return fmt.Errorf("%s holds %v, and the trades add up to %v", row, have[row], w)
		}
	}
	for row, n := range have {
		if _, ok := want[row]; !ok {
			return fmt.Errorf("%s holds %v, and no trade accounts for it", row, n)
		}
	}
	return nil
}
