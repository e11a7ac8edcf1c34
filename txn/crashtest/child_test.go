package crashtest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/txn"
)

// The variables in the environment of the child.
const (
	childDir  = "TXN_CRASHTEST_DIR"
	childMode = "TXN_CRASHTEST_MODE"
	childStep = "TXN_CRASHTEST_STEP" // where it kills itself; empty: it is killed
	childNth  = "TXN_CRASHTEST_NTH"  // at which visit
)

func TestMain(m *testing.M) {
	killtest.Main(map[string]func() error{"bank": runChild})
	goleak.VerifyTestMain(m)
}

// runChild is the process that is killed. Workers move money, enter each transfer into
// the ledger, and print it once it is committed; one more worker is the observer.
func runChild() error {
	mode, err := strconv.Atoi(os.Getenv(childMode))
	if err != nil {
		return err
	}
	nth, err := strconv.Atoi(os.Getenv(childNth))
	if err != nil {
		return err
	}
	die := killtest.At(os.Getenv(childStep), nth, killtest.Die)
	_, db, err := open(os.Getenv(childDir), txn.Mode(mode), func(step string) error { die(step); return nil })
	if err != nil {
		return err
	}
	var work errgroup.Group
	for range workers {
		work.Go(func() error {
			for {
				name := fmt.Sprintf("transfer-%016x", rand.Uint64())
				switch err := transfer(db, name); {
				case err == nil:
					fmt.Println("done", name)
				case !errors.Is(err, txn.ErrConflict):
					return err
				}
			}
		})
	}
	work.Go(func() error { return watch(db) })
	return work.Wait()
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

func watch(db *txn.DB) error {
	ctx := context.Background()
	for {
		notes, _, err := db.Notifications(ctx, "", 0)
		if err != nil {
			return err
		}
		for _, n := range notes {
			if err := observe(ctx, db, n); err != nil && !errors.Is(err, txn.ErrConflict) {
				return err
			}
		}
	}
}
