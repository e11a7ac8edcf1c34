package notify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/webindexer/indexer/txn"
)

// words counts the words of documents, and the words by first letter, by
// observers: a pipeline small enough to be computed directly.
//
//	document rows  text    the document                        w: load    o: split
//	               split   text as it stands in the pair rows  w: split
//	               repeated  a run committed twice for a text  w: split
//	pair rows      n       how often document has word         w: split
//	word rows      dirty   never written                       o: sum (weak)
//	               total   how often all documents have word   w: sum     o: first
//	letter rows    stale   never written                       o: letter (weak)
//	               sum     of the totals of its words          w: letter
type words struct {
	t    testing.TB
	mu   sync.Mutex
	rng  *rand.Rand
	odds int // one in this many runs fails, half of them by conflict; 0: none
}

func (w *words) observers() []Observer {
	return []Observer{
		{Name: "split", Watches: col("text"), Batch: 4, Run: w.flaky(w.split)},
		{Name: "sum", Watches: col("dirty"), Weak: true, Batch: 3, Run: w.flaky(w.sum)},
		{Name: "first", Watches: col("total"), Run: w.flaky(w.first)},
		{Name: "letter", Watches: col("stale"), Weak: true, Batch: 2, Run: w.flaky(w.letter)},
	}
}

type runFunc = func(context.Context, *txn.Txn, []string) error

// flaky runs fn, and then fails now and then.
func (w *words) flaky(fn runFunc) runFunc {
	return func(ctx context.Context, tx *txn.Txn, rows []string) error {
		if err := fn(ctx, tx, rows); err != nil {
			return err
		}
		switch roll := w.roll(); {
		case w.odds == 0 || roll > 2:
			return nil
		case roll == 0:
			return verdict("conflict")
		case roll == 1:
			panic("now and then")
		}
		return errors.New("now and then")
	}
}

func (w *words) roll() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(max(w.odds, 1))
}

func (w *words) split(ctx context.Context, tx *txn.Txn, rows []string) error {
	for _, doc := range rows {
		text, err := tx.Get(ctx, doc, col("text"))
		if err != nil {
			return err
		}
		old, err := tx.Get(ctx, doc, col("split"))
		if err != nil {
			return err
		}
		version, before, _ := strings.Cut(string(old.Data), " ")
		if version == strconv.FormatUint(text.TS, 10) && text.Exists {
			tx.Set(doc, col("repeated"), text.Data) // a second run for this change; it must not commit
		}
		was, is := countWords(before), countWords(string(text.Data))
		for _, word := range slices.Sorted(maps.Keys(merge(was, is))) {
			if was[word] != is[word] {
				tx.Set("p/"+word+"/"+doc, col("n"), []byte(strconv.Itoa(is[word])))
				tx.Notify("w/"+word, col("dirty"))
			}
		}
		tx.Set(doc, col("split"), fmt.Appendf(nil, "%d %s", text.TS, text.Data))
	}
	return nil
}

func (w *words) sum(ctx context.Context, tx *txn.Txn, rows []string) error {
	for _, row := range rows {
		if err := addUp(ctx, tx, "p/"+strings.TrimPrefix(row, "w/")+"/", "n", row); err != nil {
			return err
		}
	}
	return nil
}

func (w *words) first(_ context.Context, tx *txn.Txn, rows []string) error {
	for _, row := range rows {
		tx.Notify("l/"+row[2:3], col("stale"))
	}
	return nil
}

func (w *words) letter(ctx context.Context, tx *txn.Txn, rows []string) error {
	for _, row := range rows {
		if err := addUp(ctx, tx, "w/"+strings.TrimPrefix(row, "l/"), "total", row); err != nil {
			return err
		}
	}
	return nil
}

// addUp sets the total of a row to the sum of a column over rows.
func addUp(ctx context.Context, tx *txn.Txn, prefix, column, row string) error {
	total := 0
	err := tx.ScanPrefix(ctx, "app", prefix, func(_ string, cols []txn.Version) error {
		for _, c := range cols {
			if c.Name == column {
				n, err := strconv.Atoi(string(c.Data))
				if err != nil {
					return err
				}
				total += n
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	name := col("total")
	if strings.HasPrefix(row, "l/") {
		name = col("sum")
	}
	tx.Set(row, name, []byte(strconv.Itoa(total)))
	return nil
}

func countWords(text string) map[string]int {
	n := make(map[string]int)
	for _, word := range strings.Fields(text) {
		n[word]++
	}
	return n
}

func merge(a, b map[string]int) map[string]int {
	m := maps.Clone(a)
	maps.Copy(m, b)
	return m
}

// randomText draws from few words, so that documents have to do with each other.
func randomText(rng *rand.Rand) string {
	text := make([]string, rng.IntN(6))
	for i := range text {
		text[i] = string(rune('a'+rng.IntN(3))) + string(rune('a'+rng.IntN(4)))
	}
	return strings.Join(text, " ")
}

// wantTotals computes directly what the observers should have: rows and totals
// other than 0.
func wantTotals(docs map[string]string) map[string]int {
	want := make(map[string]int)
	for _, text := range docs {
		for word, n := range countWords(text) {
			want["w/"+word] += n
			want["l/"+word[:1]] += n
		}
	}
	return want
}

// totals reads what the observers have at a timestamp.
func (r *rig) totals(ts uint64) map[string]int {
	r.t.Helper()
	have := make(map[string]int)
	tx := r.db.At(ts)
	defer tx.Rollback()
	err := tx.Scan(context.Background(), "app", "", "", func(row string, cols []txn.Version) error {
		for _, c := range cols {
			if c.Name == "repeated" {
				r.t.Errorf("two runs have committed for one change of %s", row)
			}
			if n, _ := strconv.Atoi(string(c.Data)); n != 0 && (c.Name == "total" || c.Name == "sum") {
				have[row] = n
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return have
}

func (r *rig) wantTotals(ts uint64, docs map[string]string) {
	r.t.Helper()
	if have, want := r.totals(ts), wantTotals(docs); !maps.Equal(have, want) {
		r.t.Errorf("observers have\n%v\nwant\n%v", have, want)
	}
	if n := r.notifications(); n > 0 {
		r.t.Errorf("%d notifications are left", n)
	}
}
