package txn_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// The columns of the paper's Figure 2, "contents:document" and "dups:canonical-url".
var (
	document  = txn.Column{Group: "contents", Name: "document"}  // of rows named by URL
	canonical = txn.Column{Group: "dups", Name: "canonical-url"} // of rows named by content hash
)

// updateDocument is UpdateDocument of the paper's Figure 2: it inserts a document,
// and makes its URL the canonical one of its content if the content is new. It is a
// plain function of a transaction: its caller decides what to do after a conflict.
func updateDocument(ctx context.Context, tx *txn.Txn, url, contents string) error {
	tx.Set(url, document, []byte(contents))
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(contents)))
	known, err := tx.Get(ctx, hash, canonical)
	if err != nil {
		return err
	}
	if !known.Exists { // no canonical URL yet: this is it
		tx.Set(hash, canonical, []byte(url))
	} // else the content is known, and this URL is a duplicate
	return nil
}

// Documents are clustered by their content (the paper's Figure 2). Of any number of
// transactions that bring the same content at a time, exactly one makes its URL the
// canonical one: the other transactions conflict, and see it when they start over.
func Example_updateDocument() {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	table, err := mem.New(txn.Groups("contents", "dups"), mem.Options{})
	must(err)
	db, err := txn.Open(ctx, table, txn.Options{})
	must(err)

	var crawlers sync.WaitGroup
	for i := range 20 {
		crawlers.Go(func() {
			url, contents := fmt.Sprintf("example.org/%d", i), fmt.Sprintf("page %d", i%2)
			_, err := db.Run(ctx, func(tx *txn.Txn) error { return updateDocument(ctx, tx, url, contents) })
			must(err)
		})
	}
	crawlers.Wait()

	tx, err := db.Begin(ctx)
	must(err)
	count := func(group string) (n int) {
		must(tx.Scan(ctx, group, "", "", func(string, []txn.Version) error { n++; return nil }))
		return n
	}
	fmt.Println(count("contents"), "documents,", count("dups"), "clusters")

	tx.Rollback()
	must(db.Close())
	must(table.Close())
	// Output:
	// 20 documents, 2 clusters
}

// Two transactions that began together both add to one counter. The second to
// commit is refused: it would have overwritten what it did not see. Run starts such
// a one over; here that is done by hand.
func ExampleTxn_Commit() {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	table, err := mem.New(txn.Groups("counters"), mem.Options{})
	must(err)
	db, err := txn.Open(ctx, table, txn.Options{})
	must(err)
	hits := txn.Column{Group: "counters", Name: "hits"}
	addOne := func(tx *txn.Txn) {
		v, err := tx.Get(ctx, "front page", hits)
		must(err)
		tx.Set("front page", hits, append(v.Data[:len(v.Data):len(v.Data)], '|'))
	}

	first, err := db.Begin(ctx)
	must(err)
	second, err := db.Begin(ctx)
	must(err)
	addOne(first)
	addOne(second)
	_, err = first.Commit(ctx)
	must(err)
	_, err = second.Commit(ctx)
	fmt.Println("conflict:", errors.Is(err, txn.ErrConflict))
	if conflict, ok := errors.AsType[*txn.ConflictError](err); ok {
		fmt.Println(conflict.Cell, "was", conflict.Reason)
	}

	again, err := db.Begin(ctx)
	must(err)
	addOne(again)
	end, err := again.Commit(ctx)
	must(err)

	now := db.At(end) // a snapshot of what this commit left
	v, err := now.Get(ctx, "front page", hits)
	must(err)
	fmt.Printf("%s\n", v.Data)

	now.Rollback()
	must(db.Close())
	must(table.Close())
	// Output:
	// conflict: true
	// front page counters:hits was written
	// ||
}
