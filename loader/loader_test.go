package loader_test

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/office/officetest"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openRig(t *testing.T, opts webtest.Options) *webtest.Rig {
	t.Helper()
	r, err := webtest.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	return r
}

func settle(t *testing.T, r *webtest.Rig) {
	t.Helper()
	if err := r.Quiesce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func mustLoad(t *testing.T, r *webtest.Rig, f *page.Fetch) loader.Effect {
	t.Helper()
	e, err := r.Load(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func somePage(text string, at time.Time) *page.Fetch {
	return &page.Fetch{
		URL: "https://a.example/x", Time: at, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}},
		Body: []byte("<p>" + strings.Repeat(text+" ", 64) + "<a href=/y>why</a>"),
	}
}

var noon = time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)

// TestUnchangedPage: a page that is fetched again unchanged, or revisited, is not
// interpreted or exported again; one run of refresh brings its time to the index files. A
// fetch that is late or has failed leads to no run at all.
func TestUnchangedPage(t *testing.T) {
	var runs []string
	r := openRig(t, webtest.Options{Events: notify.Events{Ran: func(observer string, _ int, _ time.Duration) { runs = append(runs, observer) }}})
	mustLoad(t, r, somePage("alpha", noon))
	settle(t, r)
	if len(runs) == 0 {
		t.Fatal("no observer ran on a new page")
	}
	runs = nil
	exported := r.Sink.(*webtest.Sink).Applied()
	revisit, failure := somePage("", noon.Add(2)), somePage("", noon.Add(3))
	revisit.Revisit, failure.Status = true, http.StatusBadGateway
	cookies := somePage("alpha", noon.Add(5))
	cookies.Header.Set("Set-Cookie", "id=1")
	for _, f := range []*page.Fetch{somePage("alpha", noon.Add(1)), revisit, failure, somePage("beta", noon.Add(-1)), cookies} {
		mustLoad(t, r, f)
		notes, _, err := r.DB.Notifications(t.Context(), "", 10)
		if err != nil || len(notes) != 1 || notes[0].Observer != "refresh" {
			t.Errorf("%v: notifications %v, %v", f.Time, notes, err)
		}
	}
	settle(t, r)
	if !slices.Equal(runs, []string{"refresh"}) {
		t.Errorf("runs %v", runs)
	}
	if docs := r.Sink.(*webtest.Sink).Documents(); len(docs) != 1 || !docs[0].FetchedAt.Equal(noon.Add(5)) {
		t.Errorf("documents %+v, want one of the last fetch", docs)
	}
	if n := r.Sink.(*webtest.Sink).Applied(); n != exported {
		t.Errorf("%d exports", n-exported)
	}
}

// TestLoadAtOnce loads all fetches of a few URLs from many goroutines, several
// times over: the same fetch decides as when they come one by one.
func TestLoadAtOnce(t *testing.T) {
	for seed := range testenv.Seeds(t, 0, 20) {
		random := mathrand.New(mathrand.NewPCG(seed, 0))
		w := webtest.RandomWeb(random, 4)
		w.Fetches = 60
		fetches := w.Make(random)
		r := openRig(t, webtest.Options{})
		var g errgroup.Group
		for range 8 {
			order := random.Perm(len(fetches))
			g.Go(func() error {
				for _, i := range order {
					if _, err := r.Load(context.Background(), fetches[i]); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		settle(t, r)
		diff, err := webtest.Differences(t.Context(), r.DB, r.Sink.(*webtest.Sink).Documents(), fetches, webtest.Comparison{})
		if err != nil || len(diff) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(diff, "\n"))
		}
	}
}

// TestBodyTooLarge: what the store cannot hold is a failed fetch, not the end of
// the load; what was there stays in force.
func TestBodyTooLarge(t *testing.T) {
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{Limits: store.Limits{MaxValueBytes: 4 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	r := openRig(t, webtest.Options{Table: table})
	if e := mustLoad(t, r, somePage("alpha", noon)); e != loader.Changed {
		t.Fatal(e)
	}
	large := somePage("", noon.Add(1))
	large.Body = make([]byte, 20_000)
	if _, err := rand.Read(large.Body); err != nil {
		t.Fatal(err)
	}
	if e := mustLoad(t, r, large); e != loader.Noted {
		t.Errorf("effect %s", e)
	}
	tx, err := r.DB.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	lines, err := webtest.Dump(t.Context(), tx)
	all := strings.Join(lines, "\n")
	if err != nil || !strings.Contains(all, "body of 20000 bytes is too large to be stored") || !strings.Contains(all, "fetch:time a.example/x: 12h0m0s body") {
		t.Errorf("%v\n%s", err, all)
	}
}

// TestBodyTooLong: a body that could not be read again is a failed fetch, even if it is short when it is
// compressed.
func TestBodyTooLong(t *testing.T) {
	r := openRig(t, webtest.Options{})
	long := somePage("", noon)
	long.Body = make([]byte, 256<<20+1)
	copy(long.Body, "<html>")
	if e := mustLoad(t, r, long); e != loader.Noted {
		t.Errorf("effect %s", e)
	}
}

// stoppedPipeline is a pipeline that was stopped.
type stoppedPipeline struct{}

func (stoppedPipeline) Admit(context.Context) error { return notify.ErrStopped }

func (stoppedPipeline) Loading() (end func()) { return func() {} }

// TestErrors name the URL, and pass the cause on.
func TestErrors(t *testing.T) {
	r := openRig(t, webtest.Options{})
	_, err := loader.New(r.DB, stoppedPipeline{}, nil).Load(t.Context(), somePage("alpha", noon))
	if !errors.Is(err, notify.ErrStopped) || !strings.Contains(err.Error(), "https://a.example/x") {
		t.Errorf("stopped: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Load(ctx, somePage("alpha", noon)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestAbsurdTimes: clocks that are off by centuries still say what is newer.
func TestAbsurdTimes(t *testing.T) {
	r := openRig(t, webtest.Options{})
	for _, c := range []struct {
		text string
		at   time.Time
		want loader.Effect
	}{
		{"zero", time.Time{}, loader.Changed},
		{"now", noon, loader.Changed},
		{"far", time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), loader.Changed},
		{"now again", noon.Add(1), loader.Late},
		{"zero", time.Time{}, loader.Late},
	} {
		if e := mustLoad(t, r, somePage(c.text, c.at)); e != c.want {
			t.Errorf("%s: %s, want %s", c.text, e, c.want)
		}
	}
	settle(t, r)
	docs := r.Sink.(*webtest.Sink).Documents()
	if len(docs) != 1 || docs[0].FetchedAt.Year() != 2261 {
		t.Errorf("documents %+v", docs)
	}
}

// TestOfficeTie: of two fetches with the same time and body, of which only one says that the
// body is an office document, the same one wins in both orders.
func TestOfficeTie(t *testing.T) {
	both := []*page.Fetch{somePage("a body", noon), somePage("a body", noon)}
	both[1].Header = http.Header{"Content-Type": {officetest.WordType}}
	var inForce []string
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		r := openRig(t, webtest.Options{})
		_, err := r.DB.Run(t.Context(), func(tx *txn.Txn) error {
			schema.OfficeFormat.Write(tx, schema.FormatOn)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range order {
			mustLoad(t, r, both[i])
		}
		tx, err := r.DB.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		v, err := tx.Get(t.Context(), schema.URLRow(both[0].URL), schema.FetchContent)
		if err != nil {
			t.Fatal(err)
		}
		inForce = append(inForce, string(v.Data))
		tx.Rollback()
	}
	if inForce[0] != inForce[1] {
		t.Errorf("in force: %q in one order, %q in the other", inForce[0], inForce[1])
	}
}
