package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/web"
	"github.com/webindexer/indexer/web/live"
	"github.com/webindexer/indexer/web/remote"
)

const shown page.URL = "https://a.example/"

// opened returns a repository with a page that another one links to.
func opened(t *testing.T) *repository.Repository {
	t.Helper()
	r, err := repository.Open(t.Context(), t.TempDir(), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	for _, line := range []string{"a.example/ at=1 page text=a title=A", "b.example/ at=2 page text=b link=a.example/,lamp", "a.example/favicon.ico at=1 icon=5"} {
		f, err := webtest.ParseFetch(line)
		if err == nil {
			_, err = r.Load(t.Context(), f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// asking carries requests to an answering function in this process.
func asking(answer func(ctx context.Context, argument string, w io.Writer) error) remote.Ask {
	return func(ctx context.Context, argument string, out, said io.Writer) (bool, error) {
		if err := answer(ctx, argument, out); err != nil {
			_, _ = fmt.Fprintln(said, err) // to a buffer
			return false, nil
		}
		return true, nil
	}
}

// TestInspector compares what comes through a request with what the process itself says.
func TestInspector(t *testing.T) {
	local := web.Local{Repo: opened(t)}
	there := remote.Inspector{Ask: asking(func(ctx context.Context, argument string, w io.Writer) error {
		return remote.AnswerInspector(ctx, local, argument, w)
	})}
	windows := inspect.Windows{Members: inspect.Window{Limit: 5}, Inlinks: inspect.Window{Limit: 5}, LinkingPages: inspect.Window{Limit: 5}}
	past := snapshot.Moment{TS: local.Repo.DB().LastTimestamp()}
	for name, do := range map[string]func(web.Inspector) (any, error){
		"inspect":             func(i web.Inspector) (any, error) { return i.Inspect(t.Context(), shown, windows, snapshot.Moment{}) },
		"inspect then":        func(i web.Inspector) (any, error) { return i.Inspect(t.Context(), shown, windows, past) },
		"inspect the unknown": func(i web.Inspector) (any, error) { return i.Inspect(t.Context(), "https://c.example/", windows, past) },
		"inspect the future": func(i web.Inspector) (any, error) {
			return i.Inspect(t.Context(), shown, windows, snapshot.Moment{TS: 1 << 40})
		},
		"copy":                func(i web.Inspector) (any, error) { return i.Copy(t.Context(), shown, 0) },
		"copy of the unknown": func(i web.Inspector) (any, error) { return i.Copy(t.Context(), "https://c.example/", 0) },
		"versions":            func(i web.Inspector) (any, error) { return i.Versions(t.Context(), shown) },
		"no versions":         func(i web.Inspector) (any, error) { return i.Versions(t.Context(), "https://c.example/") },
		"text":                func(i web.Inspector) (any, error) { return i.Text(t.Context(), shown, 0) },
		"text of the unknown": func(i web.Inspector) (any, error) { return i.Text(t.Context(), "https://c.example/", 0) },
		"no picture":          func(i web.Inspector) (any, error) { return i.Picture(t.Context(), shown, 0, true) },
		"pictured":            func(i web.Inspector) (any, error) { return i.Pictured(t.Context(), []page.URL{shown}) },
		"icons": func(i web.Inspector) (any, error) {
			return i.Icons(t.Context(), []page.URL{shown, "https://b.example/"})
		},
		"icon":    func(i web.Inspector) (any, error) { return i.Icon(t.Context(), shown) },
		"no icon": func(i web.Inspector) (any, error) { return i.Icon(t.Context(), "https://b.example/") },
		"stats":   func(i web.Inspector) (any, error) { return i.Stats(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			want, wantErr := do(local)
			got, err := do(there)
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("error %v, want %v", err, wantErr)
			}
			for _, kind := range []error{web.ErrNotThen, inspect.ErrNoCopy, inspect.ErrNoPicture, inspect.ErrNotRendering, inspect.ErrNoIcon} {
				if errors.Is(err, kind) != errors.Is(wantErr, kind) {
					t.Errorf("error %v is not of the kind of %v", err, wantErr)
				}
			}
			if got, want := asJSON(t, got), asJSON(t, want); err == nil && got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestNoAnswer: failures of a request are distinguished: the other process has moved,
// or the client has gone.
func TestNoAnswer(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	fails := func(err error) remote.Ask {
		return func(context.Context, string, io.Writer, io.Writer) (bool, error) { return false, err }
	}
	answers := func(text string) remote.Ask {
		return asking(func(_ context.Context, _ string, w io.Writer) error { _, err := io.WriteString(w, text); return err })
	}
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		ctx  context.Context
		ask  remote.Ask
		want error
		says string
	}{
		"nobody":         {t.Context(), fails(control.ErrNobody), web.ErrElsewhere, ""},
		"refused":        {t.Context(), fails(control.ErrRefused), web.ErrElsewhere, ""},
		"cut off":        {t.Context(), fails(control.ErrCutOff), web.ErrElsewhere, ""},
		"silent":         {t.Context(), fails(control.ErrSilent), web.ErrElsewhere, ""},
		"released":       {t.Context(), fails(remote.ErrReleased), web.ErrElsewhere, ""},
		"broken":         {t.Context(), fails(broken), broken, ""},
		"client gone":    {gone, fails(broken), context.Canceled, ""},
		"not done":       {t.Context(), asking(func(context.Context, string, io.Writer) error { return broken }), web.ErrElsewhere, "it says: broken"},
		"no JSON":        {t.Context(), answers("hello"), web.ErrElsewhere, "cannot be read"},
		"empty answer":   {t.Context(), answers("{}"), web.ErrElsewhere, "a different version"},
		"unknown fields": {t.Context(), answers(`{"weather": "fine"}`), web.ErrElsewhere, "a different version"},
	} {
		t.Run(name, func(t *testing.T) {
			i := remote.Inspector{Ask: tt.ask}
			_, inspectErr := i.Inspect(tt.ctx, shown, inspect.Windows{}, snapshot.Moment{})
			_, copyErr := i.Copy(tt.ctx, shown, 0)
			_, statsErr := i.Stats(tt.ctx)
			for _, err := range []error{inspectErr, copyErr, statsErr} {
				if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%v, want %v that says %q", err, tt.want, tt.says)
				}
			}
		})
	}
}

// TestWrongMoment: an older version, which knows no moments, answers for the present. That
// is not shown as the past.
func TestWrongMoment(t *testing.T) {
	local := web.Local{Repo: opened(t)}
	i := remote.Inspector{Ask: asking(func(ctx context.Context, argument string, w io.Writer) error {
		return remote.AnswerInspector(ctx, local, strings.ReplaceAll(argument, `"moment"`, `"unknown"`), w)
	})}
	at := snapshot.Moment{TS: local.Repo.DB().LastTimestamp()}
	if _, err := i.Inspect(t.Context(), shown, inspect.Windows{}, at); !errors.Is(err, web.ErrElsewhere) || !strings.Contains(err.Error(), "a different version") {
		t.Errorf("got %v", err)
	}
}

func TestBadRequests(t *testing.T) {
	for _, argument := range []string{"", "hello", "[]", `{"ask": "weather"}`} {
		if err := remote.AnswerInspector(t.Context(), web.Local{}, argument, io.Discard); !errors.Is(err, remote.ErrRequest) {
			t.Errorf("inspector, %q: %v, want %v", argument, err, remote.ErrRequest)
		}
	}
	for _, argument := range []string{"", "hello", "[]"} {
		if err := remote.AnswerPipeline(t.Context(), source{}, argument, io.Discard); !errors.Is(err, remote.ErrRequest) {
			t.Errorf("pipeline, %q: %v, want %v", argument, err, remote.ErrRequest)
		}
	}
}

// source is the pipeline of a repository, with a crawl.
type source struct{ *repository.Repository }

func (source) Frontier(context.Context, int) (*live.Frontier, error) {
	return &live.Frontier{New: 3}, nil
}

func TestPipeline(t *testing.T) {
	src := source{opened(t)}
	var notReady error
	reachable := true
	p := remote.NewPipeline(t.Context(), func(ctx context.Context, argument string, out, said io.Writer) (bool, error) {
		if !reachable {
			return false, control.ErrNobody
		}
		return asking(func(ctx context.Context, argument string, w io.Writer) error {
			return remote.AnswerPipeline(ctx, unready{src, notReady}, argument, w)
		})(ctx, argument, out, said)
	})
	if _, err := p.DeadCount(t.Context()); !errors.Is(err, remote.ErrNotTold) {
		t.Errorf("before Space: %v", err)
	}
	for range 2 { // the second request adds no page
		sample := p.Sample()
		if sample.NotReady != nil || sample.Waiting != 0 || sample.Found.N() != 2 {
			t.Errorf("%+v, with %d pages", sample, sample.Found.N())
		}
		if found := p.Found(time.Time{}); len(found) != 2 {
			t.Errorf("found %v", found)
		}
	}
	if l, want := p.FoundSince(time.Time{}), src.FoundSince(time.Time{}); asJSON(t, l) != asJSON(t, want) {
		t.Errorf("latency %+v, want %+v", l, want)
	}
	if space, err := p.Space(); err != nil || space == (repository.Space{}) {
		t.Errorf("space %+v, %v", space, err)
	}
	dead, deadErr := p.DeadCount(t.Context())
	front, frontErr := p.Frontier(t.Context(), 10)
	if deadErr != nil || frontErr != nil || dead == nil || len(dead) != 0 || front.New != 3 {
		t.Errorf("dead letters %v, %v; frontier %+v, %v", dead, deadErr, front, frontErr)
	}
	for _, notReady = range []error{notify.ErrPaused, errors.New("no space left")} {
		if got := p.Sample().NotReady; got == nil || got.Error() != notReady.Error() || errors.Is(got, notify.ErrPaused) != errors.Is(notReady, notify.ErrPaused) {
			t.Errorf("not ready because of %v, want %v", got, notReady)
		}
	}
	reachable = false
	if sample := p.Sample(); !errors.Is(sample.NotReady, live.ErrUnknown) || sample.Found.N() != 2 {
		t.Errorf("unreachable: %v, with %d pages", sample.NotReady, sample.Found.N())
	}
	if _, err := p.Space(); !errors.Is(err, remote.ErrNotTold) || !errors.Is(err, control.ErrNobody) {
		t.Errorf("unreachable: %v", err)
	}
}

// unready is a source whose observers do not run for a reason.
type unready struct {
	source
	why error
}

func (u unready) Sample() repository.Sample {
	p := u.source.Sample()
	p.NotReady = u.why
	return p
}

// busy is the source of a crawl whose queue is too long to be read.
type busy struct{ remote.Source }

func (busy) Sample() repository.Sample         { return repository.Sample{} }
func (busy) Found(time.Time) []observers.Found { return nil }
func (busy) Space() (repository.Space, error)  { return repository.Space{Store: 1}, nil }
func (busy) DeadCount(context.Context) (map[string]int, error) {
	return map[string]int{"links": 2}, nil
}
func (busy) Frontier(ctx context.Context, _ int) (*live.Frontier, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestLongQueue: a frontier that cannot be read in time does not keep the other figures away.
func TestLongQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := remote.NewPipeline(t.Context(), asking(func(ctx context.Context, argument string, w io.Writer) error {
			return remote.AnswerPipeline(ctx, busy{}, argument, w)
		}))
		if space, err := p.Space(); err != nil || space.Store != 1 {
			t.Errorf("space %+v, %v", space, err)
		}
		if dead, err := p.DeadCount(t.Context()); err != nil || dead["links"] != 2 {
			t.Errorf("dead letters %v, %v", dead, err)
		}
		if f, err := p.Frontier(t.Context(), 10); err == nil {
			t.Errorf("frontier %+v", f)
		}
	})
}
