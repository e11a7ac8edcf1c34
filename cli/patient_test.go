package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// outages is a table whose server is away for a while, again and again. A scan can end between two
// rows.
type outages struct {
	store.Table
	last time.Duration

	mu    sync.Mutex
	left  int // how many outages are still to come
	every int // calls and rows between two of them
	calls int
	until time.Time
}

func (o *outages) answers() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calls++; o.left > 0 && o.calls >= o.every && !time.Now().Before(o.until) {
		o.until = time.Now().Add(o.last)
		o.left--
		o.calls = 0
	}
	return !time.Now().Before(o.until)
}

func (o *outages) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if !o.answers() {
		return nil, store.ErrUnavailable
	}
	return o.Table.Read(ctx, row, sel...)
}

func (o *outages) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	var row []byte
	away := false
	next, err := o.Table.Scan(ctx, r, func(c store.Cell) error {
		if !bytes.Equal(c.Row, row) {
			row = bytes.Clone(c.Row)
			away = !o.answers()
		}
		if away {
			return store.ErrUnavailable
		}
		return fn(c)
	})
	if away {
		next = nil
	}
	return next, err
}

func (o *outages) Apply(ctx context.Context, rows []store.RowMutation) error {
	if !o.answers() {
		return store.ErrUnavailable
	}
	return o.Table.Apply(ctx, rows)
}

// TestPatientScan: a scan that outages interrupt passes the same cells, and ends at the same row.
func TestPatientScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := testenv.Random(t)
		inner, err := mem.New([]store.GroupSpec{{Name: "g"}}, mem.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			var m store.RowMutation
			m.Row = fmt.Appendf(nil, "%02d", i)
			for c := range 1 + rng.IntN(4) {
				m.Mutations = append(m.Mutations, store.Mutation{Op: store.Put, Group: "g", Column: fmt.Append(nil, c), TS: 1})
			}
			if err := inner.Apply(t.Context(), []store.RowMutation{m}); err != nil {
				t.Fatal(err)
			}
		}
		for most := range 50 {
			scan := func(ctx context.Context, table store.Reader) (cells []string, next string) {
				from, err := table.Scan(ctx, store.Range{Group: "g", MaxCells: most}, func(c store.Cell) error {
					cells = append(cells, fmt.Sprintf("%s %s", c.Row, c.Column))
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				return cells, strings.TrimSuffix(string(from), "\x00")
			}
			want, end := scan(t.Context(), inner)
			got, next := scan(patiently(t.Context(), io.Discard), patientTable{&outages{Table: inner, last: 2 * time.Second, left: 100, every: 3 + rng.IntN(5)}})
			if !slices.Equal(got, want) || next < end && next != want[len(want)-1][:2] || next > end {
				t.Errorf("%d cells at most: %d cells to %q, want %d to %q", most, len(got), next, len(want), end)
			}
		}
	})
}

// TestPatientQuestions: a question that a command answers in its own process survives outages of the
// store, and says that it waits.
func TestPatientQuestions(t *testing.T) {
	inner, err := mem.New(repository.SharedGroups(), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := sharedtest.New()
	worker := joinTable(t, inner, all, true)
	for i := range 30 {
		_, err := worker.Load(t.Context(), &page.Fetch{
			URL: page.URL(fmt.Sprintf("https://a.example/%d", i)), Time: time.Unix(1e9, 0), Status: http.StatusOK,
			Header: http.Header{"Content-Type": {"text/html"}}, Body: fmt.Append(nil, "page ", i),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(worker.Quiesce(t.Context()), worker.Close()); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"verify", "check", "gc", "export", "stats"} {
		t.Run(command, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { askDuringOutages(t, inner, all, command) })
		})
	}
}

func joinTable(t *testing.T, table store.Table, all *sharedtest.Coordinator, works bool) *repository.Repository {
	t.Helper()
	p := all.Join()
	share := &repository.Share{Coordination: &txn.Coordination{Timestamps: p, Liveness: p, RowLocks: p}, Works: works}
	if works {
		share.Leases = []string{observers.LeaseRank, observers.LeaseIndex}
	}
	r, err := repository.Open(t.Context(), t.TempDir(), repository.Options{
		Share: share, Table: func(context.Context, []store.GroupSpec) (store.Table, error) { return keptOpen{table}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func askDuringOutages(t *testing.T, inner store.Table, all *sharedtest.Coordinator, command string) {
	away := &outages{Table: inner, last: 4 * time.Minute, every: 8}
	repo := joinTable(t, patientTable{away}, all, false)
	away.mu.Lock()
	away.left, away.calls = 2, 0
	away.mu.Unlock()
	var said bytes.Buffer
	a := newApp(nil, io.Discard, &said)
	s := &session{app: a, repo: repo, pdfs: pdfReader(), closeIndex: func() error { return nil }}
	args := map[string][]string{"verify": {"2"}, "gc": {`{"do":"collect"}`}}
	if err := s.askHere(t.Context(), a.request(command, args[command]...), io.Discard); err != nil {
		t.Error(err)
	}
	if text := said.String(); away.left > 0 || !strings.Contains(text, "waiting: ") || !strings.Contains(text, "the store answers again") {
		t.Errorf("%d outages are left, and it says %q", away.left, text)
	}
}
