package live_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web/live"
)

// beside serves the status of a pipeline in another process.
func beside(t *testing.T, search func(context.Context) error, opts live.Options) (h http.Handler, end func()) {
	t.Helper()
	opts.Search = search
	l, err := live.New(broken{errors.New("nobody answers")}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return l.Handler(), l.Close
}

func ask(h http.Handler, path string) (status int, body string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// Beside another process, a server is ready while it can search, and always healthy.
func TestReadyBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var unable error
		h, end := beside(t, func(context.Context) error { return unable }, live.Options{})
		defer end()
		for _, step := range []struct {
			wait   time.Duration
			broken error
			status int
			says   string
		}{
			{0, nil, http.StatusOK, "ready\n"},
			{100 * time.Millisecond, errors.New("/secret/path is gone"), http.StatusOK, "ready\n"}, // as it was a moment ago
			{time.Second, errors.New("/secret/path is gone"), http.StatusServiceUnavailable, "the index cannot be searched\n"},
			{time.Second, nil, http.StatusOK, "ready\n"},
		} {
			time.Sleep(step.wait)
			unable = step.broken
			if status, body := ask(h, "/readyz"); status != step.status || body != step.says {
				t.Errorf("ready: %d %q, want %d %q", status, body, step.status, step.says)
			}
			if status, body := ask(h, "/healthz"); status != http.StatusOK || body != "ok\n" {
				t.Errorf("health: %d %q", status, body)
			}
		}
	})
}

// However many clients ask, one check runs at a time, and a check that hangs times out.
func TestReadyIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int64
		h, end := beside(t, func(ctx context.Context) error {
			checks.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}, live.Options{})
		defer end()
		var all sync.WaitGroup
		begun := time.Now()
		for range 100 {
			all.Go(func() {
				if status, _ := ask(h, "/readyz"); status != http.StatusServiceUnavailable {
					t.Errorf("status %d", status)
				}
			})
		}
		all.Wait()
		if n, took := checks.Load(), time.Since(begun); n != 1 || took > 2*time.Second {
			t.Errorf("%d checks in %v", n, took)
		}
	})
}

// Metrics cover this process and the last known state of the pipeline.
func TestMetricsBeside(t *testing.T) {
	h, end := beside(t, func(context.Context) error { return nil }, live.Options{})
	defer end()
	status, text := ask(h, "/metrics")
	if f := families(t, text); status != http.StatusOK || f["go_goroutines"] == nil || valueOf(f["indexer_pipeline_running"], "", "") != 0 {
		t.Errorf("%d %s", status, text)
	}
	if status, text := ask(h, "/status"); status != http.StatusOK || !strings.Contains(text, "stopped: nobody answers") {
		t.Errorf("%d %s", status, text)
	}
}

// handed is a pipeline that moves to another process.
type handed struct {
	broken

	mu        sync.Mutex
	now       repository.Sample
	note      string
	elsewhere bool
}

func (h *handed) Sample() repository.Sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.now
	p.Time = time.Now()
	return p
}

func (h *handed) isElsewhere() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.elsewhere
}

func (h *handed) notes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return []string{h.note}
}

// change changes the pipeline while it is watched.
func (h *handed) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
}

// While the pipeline moves, the page shows nothing as stopped, waiting or running. It does
// not compare counters of different processes, and notes come with the events.
func TestPipelineChangesHands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		observer := func(rows int64, backlog int) []notify.Stats {
			return []notify.Stats{{Observer: "document", Rows: rows, Backlog: backlog}}
		}
		source := &handed{now: repository.Sample{Opened: begun, Observers: observer(100, 7), Waiting: 5}, elsewhere: true}
		l, err := live.New(source, live.Options{
			Search: func(context.Context) error { return nil }, Elsewhere: source.isElsewhere, Notes: source.notes,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		h := l.Handler()
		for _, step := range []struct {
			name  string
			do    func()
			page  []string // what it has
			ready int
		}{
			{"another process works", func() { source.note = "elsewhere" }, []string{`data-state="good"`, `fresh/waiting">5<`, `o/document/backlog">7<`}, http.StatusOK},
			{"it is gone", func() {
				source.now.NotReady = fmt.Errorf("%w: it is changing hands", live.ErrUnknown)
				source.note = "changing"
			}, []string{`data-state="warn"`, "changing hands", `fresh/waiting">–<`, `o/document/backlog">–<`, `data-text="backlog">–<`, `data-is=""`}, http.StatusOK},
			{"this process has it", func() {
				source.now = repository.Sample{Opened: time.Now(), Observers: observer(1, 0)}
				source.note, source.elsewhere = "", false
			}, []string{`data-state="good"`, `fresh/waiting">0<`, `o/document/backlog">0<`, `o/document/rate">0/s<`}, http.StatusOK},
			{"it stops here", func() { source.now.NotReady = notify.ErrStopped }, []string{`data-state="bad"`}, http.StatusServiceUnavailable},
		} {
			source.change(step.do)
			time.Sleep(2 * time.Second)
			_, page := ask(h, "/status")
			for _, part := range step.page {
				if !strings.Contains(page, part) {
					t.Errorf("%s: the page does not have %s:\n%s", step.name, part, page)
				}
			}
			if note := source.notes()[0]; note != "" && !strings.Contains(page, `<p class="note">`+note+"</p>") {
				t.Errorf("%s: the page does not have the note %q", step.name, note)
			}
			if status, body := ask(h, "/readyz"); status != step.ready {
				t.Errorf("%s: ready %d %s", step.name, status, body)
			}
		}
	})
}

// costly is a pipeline whose slow figures take two seconds to read.
type costly struct {
	broken
	readings *atomic.Int64
}

func (c costly) Space() (repository.Space, error) {
	c.readings.Add(1)
	time.Sleep(2 * time.Second)
	return repository.Space{}, nil
}

// Slow figures take at most a twentieth of the time, also if nothing but a scraper reads them.
func TestScrapesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := costly{readings: new(atomic.Int64)}
		l, err := live.New(source, live.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		h := l.Handler()
		for range 40 {
			ask(h, "/metrics")
			time.Sleep(15 * time.Second)
		}
		if n := source.readings.Load(); n < 10 || n > 600/42+1 {
			t.Errorf("the figures were read %d times in ten minutes", n)
		}
	})
}
