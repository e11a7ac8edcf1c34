// Join keeps up to date the join of two tables, orders and customers, and the sum of the
// orders of each city.
//
//	go run ./examples/join
//
// It shows observers: each computes from the stored values and from its own previous result,
// so a change costs work in proportion to what it changes. At the end, the program computes
// the join from scratch and compares.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// The columns, each with the rows it is in, who writes it and who watches it.
var (
	city   = column("city")   // customer/NAME; written by the program, watched by move
	order  = column("order")  // order/ID: "NAME AMOUNT"; written by the program, watched by place
	placed = column("placed") // order/ID: the city and amount last counted; written by place
	theirs = column("theirs") // customer/NAME/order/ID: empty; written by place
	amount = column("amount") // city/CITY/order/ID; written by place
	dirty  = column("dirty")  // city/CITY: never written, only notified; watched by sum
	total  = column("total")  // city/CITY; written by sum
)

func column(name string) txn.Column { return txn.Column{Group: "shop", Name: name} }

// place brings the rows of orders up to date: below their customer, and below the
// city that the customer lives in.
func place(ctx context.Context, tx *txn.Txn, orders []string) error {
	for _, row := range orders {
		now, err := tx.Get(ctx, row, order)
		if err != nil {
			return err
		}
		name, sum, _ := strings.Cut(string(now.Data), " ")
		customer := "customer/" + name
		home, err := tx.Get(ctx, customer, city)
		if err != nil {
			return err
		}
		was, err := tx.Get(ctx, row, placed)
		if err != nil {
			return err
		}
		if before, _, ok := strings.Cut(string(was.Data), " "); ok {
			tx.Delete("city/"+before+"/"+row, amount)
			tx.Notify("city/"+before, dirty)
		}
		tx.Set(customer+"/"+row, theirs, nil)
		if home.Exists {
			tx.Set("city/"+string(home.Data)+"/"+row, amount, []byte(sum))
			tx.Set(row, placed, []byte(string(home.Data)+" "+sum))
			tx.Notify("city/"+string(home.Data), dirty)
		}
	}
	return nil
}

// move wakes place for the orders of a customer who has moved. It only sends
// notifications, which conflict with nothing.
func move(ctx context.Context, tx *txn.Txn, customers []string) error {
	for _, row := range customers {
		err := tx.ScanPrefix(ctx, "shop", row+"/", func(key string, _ []txn.Version) error {
			tx.Notify(strings.TrimPrefix(key, row+"/"), order)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sum adds up the orders of a city. One run handles any number of changes.
func sum(ctx context.Context, tx *txn.Txn, cities []string) error {
	for _, row := range cities {
		n := 0
		err := tx.ScanPrefix(ctx, "shop", row+"/", func(_ string, columns []txn.Version) error {
			i, err := strconv.Atoi(string(columns[0].Data))
			n += i
			return err
		})
		if err != nil {
			return err
		}
		tx.Set(row, total, []byte(strconv.Itoa(n)))
	}
	return nil
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "join:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	// place is weak: move wakes it for orders that have not changed.
	registry, err := notify.NewRegistry(
		notify.Observer{Name: "place", Watches: order, Weak: true, Batch: 8, Run: place},
		notify.Observer{Name: "move", Watches: city, Run: move},
		notify.Observer{Name: "sum", Watches: dirty, Weak: true, Batch: 8, Run: sum},
	)
	if err != nil {
		return err
	}
	pipeline := notify.New(registry, notify.Options{})
	table, err := mem.New(txn.Groups("shop", notify.DeadGroup), mem.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	db, err := txn.Open(ctx, table, txn.Options{Observers: registry.Observers, Handover: pipeline.Handover})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := pipeline.Start(ctx, db); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pipeline.Stop()) }()

	shop := &shop{db: db, pipeline: pipeline, out: out}
	shop.set(ctx, "order/1", order, "ann 10") // before the customer is known
	shop.set(ctx, "customer/ann", city, "Oslo")
	shop.set(ctx, "customer/ben", city, "Lima")
	shop.set(ctx, "order/2", order, "ben 5")
	shop.set(ctx, "order/3", order, "ann 7")
	shop.show(ctx, "at first")
	shop.set(ctx, "customer/ann", city, "Lima")
	shop.show(ctx, "ann moved to Lima")
	shop.set(ctx, "order/1", order, "ann 11")
	shop.show(ctx, "an order changed")
	return shop.err
}

// shop keeps the first error, so that the story above needs no error handling.
type shop struct {
	db       *txn.DB
	pipeline *notify.Pipeline
	out      io.Writer
	err      error
}

func (s *shop) set(ctx context.Context, row string, c txn.Column, value string) {
	if s.err == nil {
		_, s.err = s.db.Run(ctx, func(tx *txn.Txn) error {
			tx.Set(row, c, []byte(value))
			return nil
		})
	}
}

// show waits until all work is done, compares the total of each city with a full
// computation, and prints it.
func (s *shop) show(ctx context.Context, when string) {
	if s.err != nil {
		return
	}
	done, err := s.pipeline.Quiesce(ctx)
	if err != nil {
		s.err = err
		return
	}
	tx := s.db.At(done)
	defer tx.Rollback()
	for _, name := range []string{"Lima", "Oslo"} {
		v, err := tx.Get(ctx, "city/"+name, total)
		full, ferr := fromScratch(ctx, tx, name)
		if s.err = errors.Join(err, ferr); s.err != nil {
			return
		}
		kept, err := strconv.Atoi("0" + string(v.Data))
		if err != nil || kept != full {
			s.err = fmt.Errorf("%s: %s is kept as %q, and is %d", when, name, v.Data, full)
			return
		}
		_, s.err = fmt.Fprintf(s.out, "%s: %s %d\n", when, name, kept)
	}
}

// fromScratch computes the total of a city from all orders and customers.
func fromScratch(ctx context.Context, tx *txn.Txn, name string) (n int, err error) {
	err = tx.ScanPrefix(ctx, "shop", "order/", func(_ string, columns []txn.Version) error {
		for _, c := range columns {
			if c.Name != order.Name {
				continue
			}
			customer, sum, _ := strings.Cut(string(c.Data), " ")
			home, err := tx.Get(ctx, "customer/"+customer, city)
			if err != nil || string(home.Data) != name {
				return err
			}
			i, err := strconv.Atoi(sum)
			n += i
			return err
		}
		return nil
	})
	return n, err
}
