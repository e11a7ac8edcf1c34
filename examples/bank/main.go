// Bank moves money between accounts from many goroutines at once, and audits the
// books while it does.
//
//	go run ./examples/bank [DIR]
//
// It shows transactions without observers: snapshot reads, conflicts and retries, and an
// invariant that holds in every snapshot. With DIR, the accounts stay on disk and the next
// run continues with them; kill it at any moment, and no money is lost.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

const (
	accounts = 100
	opening  = 1000 // each account's first balance
	tellers  = 8
	each     = 250 // transfers per teller
)

// balance holds an account's money, in decimal. One row is one account.
var balance = txn.Column{Group: "bank", Name: "balance"}

func main() {
	dir := ""
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(context.Background(), dir, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bank:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, out io.Writer) (err error) {
	table, err := openTable(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	db, err := txn.Open(ctx, table, txn.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := openAccounts(ctx, db); err != nil {
		return err
	}
	work, working := errgroup.WithContext(ctx)
	for range tellers {
		work.Go(func() error { return transferAtRandom(working, db) })
	}
	work.Go(func() error { return audit(working, db, out) })
	if err := work.Wait(); err != nil {
		return err
	}
	return audit(ctx, db, out)
}

func openTable(dir string) (store.Table, error) {
	if dir == "" {
		return mem.New(txn.Groups("bank"), mem.Options{})
	}
	return badgerdb.Open(dir, txn.Groups("bank"), badgerdb.Options{})
}

func account(i int) string { return fmt.Sprintf("account %03d", i) }

// openAccounts gives every account its first balance, unless it has one.
func openAccounts(ctx context.Context, db *txn.DB) error {
	_, err := db.Run(ctx, func(tx *txn.Txn) error {
		for i := range accounts {
			v, err := tx.Get(ctx, account(i), balance)
			if err != nil {
				return err
			}
			if !v.Exists {
				tx.Set(account(i), balance, []byte(strconv.Itoa(opening)))
			}
		}
		return nil
	})
	return err
}

func transferAtRandom(ctx context.Context, db *txn.DB) error {
	for range each {
		from, to, amount := rand.IntN(accounts), rand.IntN(accounts), 1+rand.IntN(50)
		// Run retries after a conflict: another teller was faster.
		_, err := db.Run(ctx, func(tx *txn.Txn) error { return transfer(ctx, tx, account(from), account(to), amount) })
		if err != nil {
			return err
		}
	}
	return nil
}

// transfer moves an amount, or nothing if the account has too little.
func transfer(ctx context.Context, tx *txn.Txn, from, to string, amount int) error {
	source, err := read(ctx, tx, from)
	if err != nil || source < amount || from == to {
		return err
	}
	target, err := read(ctx, tx, to)
	if err != nil {
		return err
	}
	tx.Set(from, balance, []byte(strconv.Itoa(source-amount)))
	tx.Set(to, balance, []byte(strconv.Itoa(target+amount)))
	return nil
}

func read(ctx context.Context, tx *txn.Txn, row string) (int, error) {
	v, err := tx.Get(ctx, row, balance)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(v.Data))
}

// audit adds up all accounts in one snapshot. Transfers go on meanwhile; the sum
// never shows half of one.
func audit(ctx context.Context, db *txn.DB, out io.Writer) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	sum := 0
	err = tx.Scan(ctx, "bank", "", "", func(_ string, columns []txn.Version) error {
		n, err := strconv.Atoi(string(columns[0].Data))
		sum += n
		return err
	})
	if err != nil {
		return err
	}
	if sum != accounts*opening {
		return fmt.Errorf("the books do not balance: %d, want %d", sum, accounts*opening)
	}
	_, err = fmt.Fprintf(out, "%d accounts, %d in all\n", accounts, sum)
	return err
}
