package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// indexer runs a command and returns its status and what it printed.
func indexer(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

func openStore(t *testing.T, data string) *badgerdb.DB {
	t.Helper()
	table, err := badgerdb.Open(repository.StoreDir(data), txn.Groups(schema.Groups()...), badgerdb.Options{MinFreeBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// check ends with 5 where a row is none, and says where.
func TestCheckFindsDamage(t *testing.T) {
	data := lighthouseData(t)
	table := openStore(t, data)
	err := table.Apply(t.Context(), []store.RowMutation{{Row: []byte("no row of a URL"), Mutations: []store.Mutation{
		{Op: store.Put, Group: schema.GroupURL, Column: []byte("rstate"), TS: 20},
	}}})
	if err := errors.Join(err, table.Close()); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := indexer(t, "check", "--data", data)
	if status != statusDifferences || !strings.Contains(stdout, `url "no row of a URL": the row's key`) || !strings.Contains(stderr, "1 problem: the store is inconsistent") {
		t.Errorf("status %d\n%s\n%s", status, stdout, stderr)
	}
}

// A row that an observer gave up on is listed, run again, and forgotten.
func TestDead(t *testing.T) {
	const url = page.URL("https://skerryrock.example/lamp")
	data := lighthouseData(t)
	dead := func(args ...string) string {
		t.Helper()
		status, stdout, stderr := indexer(t, append([]string{"dead", "--data", data}, args...)...)
		if status != 0 {
			t.Errorf("dead %v: status %d: %s", args, status, stderr)
		}
		return stdout
	}
	for range 2 {
		giveUp(t, data, schema.URLRow(url))
		if got := dead("list"); !strings.HasPrefix(got, "document "+string(url)) || !strings.Contains(got, "after 1 attempt: the lamp is out") {
			t.Errorf("list: %q", got)
		}
		if got := dead("list", "cluster"); got != "No observer has given up on a row.\n" {
			t.Errorf("list of another observer: %q", got)
		}
		if got := dead("retry", "document", string(url)); got != "Ran observers again on 1 row.\n" {
			t.Errorf("retry: %q", got)
		}
		if got := dead("list"); got != "No observer has given up on a row.\n" {
			t.Errorf("list after retry: %q", got)
		}
	}
	giveUp(t, data, schema.URLRow(url))
	if got := dead("drop", "document", "--format", "json"); got != `{"rows":1,"failed":0}`+"\n" {
		t.Errorf("drop: %q", got)
	}
	if got := dead("list", "--format", "json"); got != "" {
		t.Errorf("list after drop: %q", got)
	}
}

// TestDeadUnreadable: a damaged dead letter is an error, but hides no others.
func TestDeadUnreadable(t *testing.T) {
	data := lighthouseData(t)
	giveUp(t, data, schema.URLRow("https://skerryrock.example/lamp"))
	table := openStore(t, data)
	db, err := txn.Open(t.Context(), table, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Run(t.Context(), func(tx *txn.Txn) error {
		tx.Set("document\x00damaged", txn.Column{Group: notify.DeadGroup, Name: "letter"}, []byte("no letter"))
		return nil
	})
	if err := errors.Join(err, db.Close(), table.Close()); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := indexer(t, "dead", "--data", data, "list")
	if status == 0 || !strings.HasPrefix(stdout, "document https://skerryrock.example/lamp ") || !strings.Contains(stderr, `dead letter "document damaged"`) {
		t.Errorf("status %d\n%s\n%s", status, stdout, stderr)
	}
}

// giveUp writes a row anew under an observer that fails on it.
func giveUp(t *testing.T, data, row string) {
	t.Helper()
	ctx := t.Context()
	registry, err := notify.NewRegistry(notify.Observer{Name: "document", Watches: schema.FetchContent, Run: func(context.Context, *txn.Txn, []string) error {
		return errors.New("the lamp is out")
	}})
	if err != nil {
		t.Fatal(err)
	}
	p := notify.New(registry, notify.Options{Attempts: 1})
	table := openStore(t, data)
	db, err := txn.Open(ctx, table, txn.Options{Observers: registry.Observers, Handover: p.Handover})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(ctx, db); err != nil {
		t.Fatal(err)
	}
	_, err = db.Run(ctx, func(tx *txn.Txn) error {
		v, err := tx.Get(ctx, row, schema.FetchContent)
		if err == nil && !v.Exists {
			err = errors.New("there is no such row")
		}
		tx.Set(row, schema.FetchContent, v.Data)
		return err
	})
	if err == nil {
		_, err = p.Quiesce(ctx)
	}
	if err := errors.Join(err, p.Stop(), db.Close(), table.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestRetryNothing: without a dead letter, retry does not wait until all work is done. Beside a
// crawl, that may take for ever.
func TestRetryNothing(t *testing.T) {
	var out strings.Builder
	if err := retryLetters(t.Context(), nil, nil, &out, "json"); err != nil || out.String() != `{"rows":0,"failed":0}`+"\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestRetryUnread: a reader that has ended does not make a row that failed again a success.
func TestRetryUnread(t *testing.T) {
	for _, c := range []struct {
		done retried
		want int
	}{{retried{Rows: 2, Failed: 1}, statusFailed}, {retried{Rows: 2}, statusDone}} {
		err := reportRetried(c.done, failingWriter{syscall.EPIPE}, "text")
		var stderr strings.Builder
		if got := report(err, &stderr, false); got != c.want {
			t.Errorf("%+v: status %d, want %d: %v", c.done, got, c.want, err)
		}
	}
}
