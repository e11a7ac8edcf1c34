package notify_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// The columns of the word count. Each says who writes it and who watches it.
var (
	text    = txn.Column{Group: "words", Name: "text"}    // of documents; written by the loader, watched by split
	split   = txn.Column{Group: "words", Name: "split"}   // the text as it was last counted; written by split
	inDoc   = txn.Column{Group: "words", Name: "in"}      // of word/document rows: times; written by split
	changed = txn.Column{Group: "words", Name: "changed"} // never written, only notified; watched by count
	total   = txn.Column{Group: "words", Name: "total"}   // of word rows; written by count
)

// splitDocument brings the word/document rows up to date with a document. It
// writes only what has changed, and tells the words concerned. It never touches
// their totals: many documents have a word in common, and their runs would be in
// each other's way.
func splitDocument(ctx context.Context, tx *txn.Txn, docs []string) error {
	for _, doc := range docs {
		now, err := tx.Get(ctx, doc, text)
		if err != nil {
			return err
		}
		before, err := tx.Get(ctx, doc, split)
		if err != nil {
			return err
		}
		if bytes.Equal(now.Data, before.Data) {
			continue // another run has handled this change too
		}
		times, counted := wordsOf(now.Data), wordsOf(before.Data)
		for word := range counted {
			times[word] += 0 // a word that has gone occurs 0 times
		}
		for word, n := range times {
			if n == counted[word] {
				continue
			}
			tx.Set(word+"/"+doc, inDoc, []byte(strconv.Itoa(n)))
			tx.Notify(word, changed) // a weak notification: it conflicts with nothing
		}
		tx.Set(doc, split, now.Data)
	}
	return nil
}

// wordsOf says how often each word occurs in a text.
func wordsOf(text []byte) map[string]int {
	times := make(map[string]int)
	for word := range strings.FieldsSeq(string(text)) {
		times[word]++
	}
	return times
}

// countWord adds up a word's rows. However many documents told it about a change,
// one run answers them all.
func countWord(ctx context.Context, tx *txn.Txn, words []string) error {
	for _, word := range words {
		sum := 0
		err := tx.ScanPrefix(ctx, "words", word+"/", func(_ string, cols []txn.Version) error {
			n, err := strconv.Atoi(string(cols[0].Data))
			sum += n
			return err
		})
		if err != nil {
			return err
		}
		tx.Set(word, total, []byte(strconv.Itoa(sum)))
	}
	return nil
}

// Words are counted as documents come and change, by two observers.
func ExampleNewRegistry() {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}

	// All observers are registered in one place, in the order of the pipeline.
	registry, err := notify.NewRegistry(
		notify.Observer{Name: "split", Watches: text, Run: splitDocument},
		notify.Observer{Name: "count", Watches: changed, Weak: true, Batch: 32, Run: countWord},
	)
	must(err)
	pipeline := notify.New(registry, notify.Options{Workers: 2})

	// The transactions know which observers a write wakes, and hand the
	// notifications over when they commit.
	table, err := mem.New(txn.Groups("words", notify.DeadGroup), mem.Options{})
	must(err)
	db, err := txn.Open(ctx, table, txn.Options{Observers: registry.Observers, Handover: pipeline.Handover})
	must(err)
	must(pipeline.Start(ctx, db))

	load := func(doc, content string) {
		must(pipeline.Admit(ctx)) // not faster than the observers
		_, err := db.Run(ctx, func(tx *txn.Txn) error {
			tx.Set(doc, text, []byte(content))
			return nil
		})
		must(err)
	}
	show := func(words ...string) {
		done, err := pipeline.Quiesce(ctx)
		must(err)
		tx := db.At(done) // exactly what everything up to here amounts to
		defer tx.Rollback()
		var counts []string
		for _, word := range words {
			n, err := tx.Get(ctx, word, total)
			must(err)
			counts = append(counts, fmt.Sprintf("%s %s", word, n.Data))
		}
		fmt.Println(strings.Join(counts, ", "))
	}

	load("first", "to be or not to be")
	load("second", "not now")
	show("be", "not", "now")

	load("first", "now or never") // only what this changes is computed again
	show("be", "not", "now")

	must(pipeline.Stop())
	must(db.Close())
	must(table.Close())
	// Output:
	// be 2, not 2, now 1
	// be 0, not 1, now 2
}

// An observer that fails on a row over and over sets it aside; the letter says
// why. After the cause has been mended the row is run again.
func ExamplePipeline_Retry() {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	var mended atomic.Bool
	registry, err := notify.NewRegistry(notify.Observer{
		Name: "parse", Watches: text,
		Run: func(ctx context.Context, tx *txn.Txn, rows []string) error {
			if !mended.Load() {
				return fmt.Errorf("cannot parse %s", rows[0])
			}
			return nil
		},
	})
	must(err)
	pipeline := notify.New(registry, notify.Options{Attempts: 2})
	table, err := mem.New(txn.Groups("words", notify.DeadGroup), mem.Options{})
	must(err)
	db, err := txn.Open(ctx, table, txn.Options{Observers: registry.Observers, Handover: pipeline.Handover})
	must(err)
	must(pipeline.Start(ctx, db))

	_, err = db.Run(ctx, func(tx *txn.Txn) error { tx.Set("page", text, []byte("<")); return nil })
	must(err)
	_, err = pipeline.Quiesce(ctx)
	must(err)
	letters, err := notify.DeadLetters(ctx, db)
	must(err)
	for _, l := range letters {
		fmt.Printf("%s gave up on %s after %d attempts: %s\n", l.Observer, l.Row, l.Attempts, l.Error)
	}

	mended.Store(true)
	must(pipeline.Retry(ctx, "parse", "page"))
	_, err = pipeline.Quiesce(ctx)
	must(err)
	letters, err = notify.DeadLetters(ctx, db)
	must(err)
	fmt.Println(len(letters), "letters are left")

	must(pipeline.Stop())
	must(db.Close())
	must(table.Close())
	// Output:
	// parse gave up on page after 2 attempts: cannot parse page
	// 0 letters are left
}
