package trace_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/trace"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
)

// rig is a pipeline stepped by hand, with all sources of a journey.
type rig struct {
	*webtest.Rig
	source *trace.Source
}

func open(t *testing.T, log *trace.Log) *rig {
	t.Helper()
	w, err := webtest.Open(t.Context(), webtest.Options{Events: notify.Events{Tried: log.Attempt}})
	if err != nil {
		t.Fatal(err)
	}
	clock, err := trace.OpenClock(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(w.Close(), clock.Close()); err != nil {
			t.Error(err)
		}
	})
	r := &rig{w, &trace.Source{DB: w.DB, Log: log, Clock: clock}}
	r.note(t)
	return r
}

func (r *rig) note(t *testing.T) {
	t.Helper()
	if err := r.source.Clock.Note(r.DB.LastTimestamp(), time.Now()); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) load(t *testing.T, url, text string, at time.Time) {
	t.Helper()
	_, err := r.Load(t.Context(), &page.Fetch{
		URL: page.MustParseURL(url), Time: at, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}},
		Body: []byte("<title>T</title><p>" + text + "<a href=/next>next</a>"),
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) settle(t *testing.T) {
	t.Helper()
	if err := r.Quiesce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	r.note(t)
}

func (r *rig) journey(t *testing.T, url string) *trace.Journey {
	t.Helper()
	j, err := r.source.Journey(context.Background(), page.MustParseURL(url))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// outline is a journey without its times, and with its order checked.
func outline(t *testing.T, j *trace.Journey) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(j.State)
	last := uint64(0)
	for _, s := range j.Steps {
		if max(s.Start, s.Commit) < last || s.Ended.At == nil || s.SinceLoadMS == nil {
			t.Errorf("a step without a time, or before the one before: %+v", s)
		}
		last = max(s.Start, s.Commit)
		fmt.Fprintf(&b, "; %s", strings.TrimSpace(s.What+" "+s.Observer+" "+s.On))
		if s.Found {
			b.WriteString(" FOUND")
		}
	}
	for _, w := range j.Waiting {
		fmt.Fprintf(&b, "; waiting %s %s", w.Observer, w.On)
	}
	return b.String()
}

const url = "https://a.example/x"

var noon = time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)

// A page step by step: unknown, loaded, under way, found, fetched again without news;
// with what is remembered and from the store alone.
func TestJourney(t *testing.T) {
	for _, remembered := range []bool{true, false} {
		t.Run(fmt.Sprintf("remembered=%t", remembered), func(t *testing.T) {
			var log *trace.Log
			if remembered {
				log = trace.NewLog(1000)
			}
			r := open(t, log)
			if got := outline(t, r.journey(t, url)); got != "unknown" {
				t.Errorf("before all: %s", got)
			}
			r.load(t, url, "alpha", noon)
			r.note(t)
			if got, want := outline(t, r.journey(t, url)), "under way; load; waiting document page"; got != want {
				t.Errorf("loaded:\n%s, want\n%s", got, want)
			}
			r.settle(t)
			j := r.journey(t, url)
			got := outline(t, j)
			order := []string{"searchable; load; run document page", "; run index cluster FOUND"}
			at := 0
			for _, part := range order {
				i := strings.Index(got[at:], part)
				if i < 0 {
					t.Fatalf("%q does not come after the rest in\n%s", part, got)
				}
				at += i
			}
			if strings.Count(got, "FOUND") != 1 || strings.Contains(got, "somebody") || strings.Contains(got, "waiting") {
				t.Errorf("outline:\n%s", got)
			}
			document := j.Steps[slices.IndexFunc(j.Steps, func(s trace.Step) bool { return s.Observer == "document" })]
			var columns []string
			for _, w := range document.Wrote {
				columns = append(columns, w.Column)
			}
			if fmt.Sprint(columns) != "[doc:inverted doc:links doc:text link:a member:x url:state url:walk]" || (document.TookMS != nil) != remembered {
				t.Errorf("document wrote %v, took %v", columns, document.TookMS)
			}
			if j.Fetch.Status != http.StatusOK || !j.Fetch.Time.Equal(noon) || j.TookMS == nil || *j.TookMS < 0 || j.Searchable.TS <= j.Loaded.TS {
				t.Errorf("fetch %+v, loaded %+v, searchable %+v", j.Fetch, j.Loaded, j.Searchable)
			}

			r.load(t, url, "alpha", noon.Add(time.Hour))
			r.settle(t)
			if got := outline(t, r.journey(t, url)); !strings.HasSuffix(strings.TrimSuffix(got, "; run refresh page"), "; again") || !strings.HasPrefix(got, "searchable; load;") {
				t.Errorf("fetched again:\n%s", got)
			}
			r.load(t, url, "beta", noon.Add(2*time.Hour))
			r.note(t)
			if got, want := outline(t, r.journey(t, url)), "under way; load; waiting document page"; got != want {
				t.Errorf("changed:\n%s, want\n%s", got, want)
			}
			r.settle(t)
			again := r.journey(t, url)
			if got := outline(t, again); !strings.Contains(got, "FOUND") || strings.Contains(got, "again") || again.Loaded.TS <= j.Searchable.TS {
				t.Errorf("changed and settled:\n%s", got)
			}
		})
	}
}

// An attempt that failed is a step with its error; the text tells it.
func TestJourneyWithFailures(t *testing.T) {
	log := trace.NewLog(1000)
	r := open(t, log)
	r.load(t, url, "alpha", noon)
	start := r.DB.LastTimestamp() + 1
	if _, err := r.DB.Timestamp(t.Context()); err != nil {
		t.Fatal(err)
	}
	log.Attempt(notify.Attempt{
		Observer: "document", Rows: []string{page.MustParseURL(url).Key(), "another"}, Start: start, Began: time.Now(), Took: time.Millisecond,
		Err: errors.New("no luck\x1b[31m\nstack"),
	})
	r.settle(t)
	j := r.journey(t, url)
	if got := outline(t, j); !strings.Contains(got, "load; failure document page; run document page") {
		t.Errorf("outline:\n%s", got)
	}
	text := j.Text()
	if !strings.Contains(text, `"no luck\x1b[31m"`) || !strings.Contains(text, "document on the page, with 1 other rows: failed") || strings.Contains(text, "stack") || strings.Contains(text, "\x1b") {
		t.Errorf("text:\n%s", text)
	}
	if !strings.Contains(text, "— searchable") || !strings.Contains(text, "wrote body:body") {
		t.Errorf("text:\n%s", text)
	}
}

// There is little to tell about a URL that only failed, or leads nowhere, and no error.
func TestJourneyOfOthers(t *testing.T) {
	r := open(t, nil)
	ctx := t.Context()
	for _, f := range []*page.Fetch{
		{URL: page.MustParseURL("https://a.example/failed"), Time: noon, Err: "timeout"},
		{URL: page.MustParseURL("https://a.example/lost"), Time: noon, Status: http.StatusMovedPermanently, Header: http.Header{"Location": {"/nowhere"}}},
		{URL: page.MustParseURL("https://a.example/gone"), Time: noon, Status: http.StatusGone},
	} {
		if _, err := r.Load(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	r.settle(t)
	for u, want := range map[string]string{"failed": "unknown", "lost": "settled; load; run document page", "gone": "settled; load; run document page"} {
		j := r.journey(t, "https://a.example/"+u)
		if got := outline(t, j); !strings.HasPrefix(got, want) || strings.Contains(got, "FOUND") {
			t.Errorf("%s: %s, want %s…", u, got, want)
		}
		if text := j.Text(); !strings.Contains(text, string(j.URL)) {
			t.Errorf("text:\n%s", text)
		}
	}
}

// The Log knows the moments themselves; what it knows about an earlier load does not
// count for the next.
func TestJourneyRemembered(t *testing.T) {
	log := trace.NewLog(1000)
	r := open(t, log)
	row := page.MustParseURL(url).Key()
	began := time.Now()
	log.Loaded(row)
	r.load(t, url, "alpha", noon)
	r.settle(t)
	log.Found(row, began, time.Now())
	j := r.journey(t, url)
	if got := outline(t, j); !j.Recorded || j.State != trace.StateSearchable || j.Loaded.WithinMS != 0 || j.Searchable.WithinMS != 0 || j.AtLatest {
		t.Errorf("%s: recorded %t, loaded %+v, searchable %+v", got, j.Recorded, j.Loaded, j.Searchable)
	}
	log.Loaded(row)
	r.load(t, url, "beta", noon.Add(time.Hour))
	r.note(t)
	if got, want := outline(t, r.journey(t, url)), "under way; load; waiting document page"; got != want {
		t.Errorf("loaded again:\n%s, want\n%s", got, want)
	}
}
