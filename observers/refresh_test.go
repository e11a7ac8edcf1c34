package observers_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// renewal is a page whose document is exported and whose fetch time is renewed at the same
// time, step by step.
type renewal struct {
	t    *testing.T
	rig  *webtest.Rig
	sink *webtest.Sink // empty at first: no run that made the table wrote to it
	run  map[string]func(context.Context, *txn.Txn, []string) error
	url  page.URL
	key  page.ContentKey
}

var firstFetch, secondFetch = time.Unix(1_000_000_000, 0).UTC(), time.Unix(2_000_000_000, 0).UTC()

func newRenewal(t *testing.T) *renewal {
	rig, err := webtest.Open(t.Context(), webtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, rig)
	r := &renewal{t: t, rig: rig, sink: webtest.NewSink(), run: make(map[string]func(context.Context, *txn.Txn, []string) error), url: "https://a.example/"}
	options := observers.Options{Sink: r.sink, Tracker: observers.NewTracker()}
	list := options.Observers()
	options.Shards = &notify.Shards{}
	for _, o := range append(list, observers.Only(options.Observers(), observers.TouchName)...) {
		r.run[o.Name] = o.Run
	}
	r.fetch(firstFetch)
	if err := rig.Quiesce(t.Context(), func(int) int { return 0 }); err != nil {
		t.Fatal(err)
	}
	r.key = rig.Sink.(*webtest.Sink).Documents()[0].Cluster
	return r
}

func (r *renewal) fetch(at time.Time) {
	r.t.Helper()
	f := &page.Fetch{URL: r.url, Time: at, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<title>A</title><p>words")}
	if _, err := r.rig.Load(r.t.Context(), f); err != nil {
		r.t.Fatal(err)
	}
}

func (r *renewal) begin() *txn.Txn {
	r.t.Helper()
	tx, err := r.rig.DB.Begin(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return tx
}

// do runs an observer in a transaction.
func (r *renewal) do(observer string, tx *txn.Txn) {
	r.t.Helper()
	row := schema.URLRow(r.url)
	if observer != "refresh" {
		row = schema.ClusterRow(r.key)
	}
	if err := r.run[observer](r.t.Context(), tx, []string{row}); err != nil {
		r.t.Fatal(err)
	}
}

// finish commits a run, or repeats it after a conflict. It reports whether there was one.
func (r *renewal) finish(observer string, tx *txn.Txn) (conflict bool) {
	r.t.Helper()
	_, err := tx.Commit(r.t.Context())
	if err == nil {
		return false
	}
	if !errors.Is(err, txn.ErrConflict) {
		r.t.Fatal(err)
	}
	again := r.begin()
	r.do(observer, again)
	if _, err := again.Commit(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return true
}

func (r *renewal) shown() time.Time {
	r.t.Helper()
	docs := r.sink.Documents()
	if len(docs) != 1 {
		r.t.Fatalf("%d documents are in the index files", len(docs))
	}
	return docs[0].FetchedAt
}

// unused is a sink that must not be used.
type unused struct{ observers.Sink }

func (unused) Touch(context.Context, []index.Touch) ([]index.Touch, error) {
	return nil, errors.New("touched")
}

// URLs that are not pages renew nothing. The index is not called then: a call that sends nothing
// succeeds, and an index that is away would seem to answer.
func TestNothingToRefresh(t *testing.T) {
	r := newRenewal(t)
	for _, o := range (observers.Options{Sink: unused{}, Tracker: observers.NewTracker()}).Observers() {
		r.run[o.Name] = o.Run
	}
	r.url = "https://unknown.example/"
	tx := r.begin()
	defer tx.Rollback()
	r.do("refresh", tx)
}

// A page is renewed while its first export is under way, which read the older time. In
// whichever order the two runs write and commit, the files show the newer time. The same holds
// for touch, which does the work of refresh where there are shards.
func TestRenewedDuringExport(t *testing.T) {
	for _, observer := range []string{"refresh", observers.TouchName} {
		t.Run(observer, func(t *testing.T) { testRenewedDuringExport(t, observer) })
	}
}

func testRenewedDuringExport(t *testing.T, refresher string) {
	for name, play := range map[string]func(r *renewal) (conflict bool){
		"refresh is done before the export writes": func(r *renewal) bool {
			export := r.begin()
			r.fetch(secondFetch)
			refresh := r.begin()
			r.do(refresher, refresh)
			r.finish(refresher, refresh)
			r.do("index", export)
			return r.finish("index", export)
		},
		"the export commits first": func(r *renewal) bool {
			export := r.begin()
			r.fetch(secondFetch)
			refresh := r.begin()
			r.do(refresher, refresh)
			r.do("index", export)
			r.finish("index", export)
			return r.finish(refresher, refresh)
		},
		"the export is lost after it wrote": func(r *renewal) bool {
			export := r.begin()
			r.do("index", export)
			r.fetch(secondFetch)
			refresh := r.begin()
			r.do(refresher, refresh)
			export.Rollback()
			r.finish(refresher, refresh)
			return true // none is needed: the document was there
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRenewal(t)
			if !play(r) {
				t.Error("there was no conflict: this tests nothing")
			}
			if at := r.shown(); !at.Equal(secondFetch) {
				t.Errorf("the document shows the time %v, want %v", at, secondFetch)
			}
		})
	}
}

// A run that is repeated, or that finds an older time than the files have, sets nothing
// back, and URLs that are not pages do not change.
func TestRefreshAgain(t *testing.T) {
	r := newRenewal(t)
	for _, observer := range []string{"index", "refresh", "refresh"} {
		tx := r.begin()
		r.do(observer, tx)
		r.finish(observer, tx)
	}
	later := index.Touch{Cluster: r.key, URL: r.url, FetchedAt: secondFetch}
	if _, err := r.sink.Touch(t.Context(), []index.Touch{later}); err != nil {
		t.Fatal(err)
	}
	tx := r.begin()
	defer tx.Rollback()
	r.do("refresh", tx)
	r.url = "https://a.example/never"
	r.do("refresh", tx)
	if at := r.shown(); !at.Equal(secondFetch) {
		t.Errorf("the document shows the time %v, want %v", at, secondFetch)
	}
}
