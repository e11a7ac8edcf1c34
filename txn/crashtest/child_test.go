package crashtest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"indexer/txn"
)

// TestChild is the process that is killed: workers move money, each transfer with
// an entry in the ledger, and say so on the standard output once it is committed;
// one more worker is the observer.
func TestChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("only run by TestKilled")
	}
	mode, _ := strconv.Atoi(os.Getenv(childMode))
	nth, _ := strconv.ParseInt(os.Getenv(childNth), 10, 64)
	var visits atomic.Int64
	die := func(step string) error {
		if step == os.Getenv(childStep) && visits.Add(1) == nth {
			p, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			if err := p.Kill(); err != nil { // SIGKILL
				return err
			}
			select {} // nothing more happens here
		}
		return nil
	}
	_, db, err := open(dir, txn.Mode(mode), die)
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			for {
				name := fmt.Sprintf("transfer-%016x", rand.Uint64())
				if err := transfer(db, name); err != nil {
					if !errors.Is(err, txn.ErrConflict) {
						fmt.Println(err)
						return
					}
					continue
				}
				fmt.Println("done", name)
			}
		})
	}
	work.Go(func() { watch(db) })
	work.Wait()
}

func transfer(db *txn.DB, name string) error {
	ctx := context.Background()
	_, err := db.Run(ctx, func(tx *txn.Txn) error {
		from, amount := rand.IntN(accounts), rand.IntN(10)
		to := (from + 1 + rand.IntN(accounts-1)) % accounts
		for i, by := range map[int]int{from: -amount, to: amount} {
			v, err := tx.Get(ctx, account(i), balance)
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(string(v.Data))
			if err != nil {
				return err
			}
			tx.Set(account(i), balance, []byte(strconv.Itoa(n+by)))
		}
		tx.Set(name, ledger, []byte(strconv.Itoa(amount)))
		return nil
	})
	return err
}

func watch(db *txn.DB) {
	ctx := context.Background()
	for {
		notes, _, err := db.Notifications(ctx, "", 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, n := range notes {
			if err := observe(ctx, db, n); err != nil && !errors.Is(err, txn.ErrConflict) {
				fmt.Println(err)
				return
			}
		}
	}
}
