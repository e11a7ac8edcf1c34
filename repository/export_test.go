package repository_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/feed"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

// everyExport are all formats with all their tables.
var everyExport = []export.Choice{
	{Format: export.FormatJSONL, Table: export.Documents},
	{Format: export.FormatJSONL, Table: export.Links},
	{Format: export.FormatParquet, Table: export.Documents},
	{Format: export.FormatParquet, Table: export.Links},
	{Format: export.FormatRanks, Table: export.Hosts},
	{Format: export.FormatCDXJ, Table: export.Captures},
	{Format: export.FormatCIFF, Table: export.Documents},
}

func exportAs(t *testing.T, r *repository.Repository, c export.Choice, at snapshot.Moment) ([]byte, feed.Result) {
	t.Helper()
	var out bytes.Buffer
	res, err := r.ExportAs(t.Context(), repository.ExportOptions{Choice: c, At: at}, &out)
	if err != nil {
		t.Fatalf("%s of %s at %s: %v", c.Format, c.Table, at, err)
	}
	return out.Bytes(), res
}

// state is what was exported and inspected at a moment.
type state struct {
	ts      uint64
	at      time.Time
	exports [][]byte
	digest  string
	inspect []*inspect.Inspection
}

func stateOf(t *testing.T, r *repository.Repository, urls []page.URL) state {
	t.Helper()
	var s state
	for _, c := range everyExport {
		data, res := exportAs(t, r, c, snapshot.Moment{})
		s.exports, s.ts, s.digest = append(s.exports, data), res.TS, cmp.Or(s.digest, res.Digest)
	}
	for _, u := range urls {
		i, err := inspect.URL(t.Context(), r, u, inspect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.inspect = append(s.inspect, i)
	}
	return s
}

// TestExportOfThePast: a web changes again and again, each time in a process of its
// own, while garbage is collected. What was exported and inspected in each of its
// states comes out the same, byte for byte, when it is asked for later: by timestamp,
// and by any time at which that was the state.
func TestExportOfThePast(t *testing.T) {
	rng := testenv.Random(t)
	web := mustReadWeb(t, ownWebs)
	dir := t.TempDir()
	opts := repository.Options{Collect: true, History: 24 * time.Hour}
	var urls []page.URL
	for _, i := range rng.Perm(len(web))[:8] {
		urls = append(urls, web[i].URL)
	}
	began := time.Now()
	var states []state
	for round := range 3 {
		r := open(t, dir, opts)
		load(t, r, 2, rewritten(rng, web[:len(web)*(round+1)/3], round))
		s := stateOf(t, r, urls)
		collect(t, r)
		closeNow(t, r)
		s.at = time.Now()
		states = append(states, s)
	}
	r := open(t, dir, opts)
	defer closeNow(t, r)
	collect(t, r)
	for n, s := range states {
		for _, m := range []snapshot.Moment{{TS: s.ts}, {Time: s.at}} {
			for i, c := range everyExport {
				got, res := exportAs(t, r, c, m)
				if !bytes.Equal(got, s.exports[i]) {
					t.Errorf("state %d, %s of %s at %s: %d bytes that are not the %d of then", n, c.Format, c.Table, m, len(got), len(s.exports[i]))
				}
				if c.Table == export.Documents && (res.Unsettled != 0 || res.Digest != "" && res.Digest != s.digest) {
					t.Errorf("state %d: %+v, want the digest %s", n, res, s.digest)
				}
			}
			for i, u := range urls {
				got, err := inspect.URL(t.Context(), r, u, inspect.Options{At: m})
				if err != nil {
					t.Fatal(err)
				}
				if got.AsOf == nil || got.AsOf.TS < s.ts {
					t.Errorf("state %d, %s: as of %+v", n, u, got.AsOf)
				}
				got.AsOf = nil
				if !reflect.DeepEqual(got, s.inspect[i]) {
					t.Errorf("state %d: %s is %+v, was %+v", n, u, got, s.inspect[i])
				}
			}
		}
	}
	if bytes.Equal(states[0].exports[0], states[1].exports[0]) {
		t.Error("the states are all the same")
	}
	wantNotKept(t, r, snapshot.Moment{Time: began.Add(-time.Second)}, began)
}

// wantNotKept: the moment is refused, and the error names the first time that can be read.
func wantNotKept(t *testing.T, r *repository.Repository, m snapshot.Moment, notBefore time.Time) {
	t.Helper()
	_, err := r.ExportAs(t.Context(), repository.ExportOptions{Choice: everyExport[0], At: m}, io.Discard)
	var kept *snapshot.NotKeptError
	if !errors.As(err, &kept) || !errors.Is(err, txn.ErrBelowSafePoint) {
		t.Fatalf("at %s: %v", m, err)
	}
	if _, err := inspect.URL(t.Context(), r, "https://one.example/", inspect.Options{At: m}); !errors.As(err, &kept) {
		t.Errorf("inspect at %s: %v", m, err)
	}
	if kept.Oldest.IsZero() {
		return
	}
	if kept.Oldest.Before(notBefore) || !strings.Contains(err.Error(), kept.Oldest.UTC().Format("2006-01-02T15:04:")) {
		t.Errorf("at %s: %v, and nothing was before %s", m, err, notBefore)
	}
	exportAs(t, r, everyExport[0], snapshot.Moment{Time: kept.Oldest}) // what it names can be read
}

// TestExportWithoutHistory: collected moments are refused, and so are those that never
// existed.
func TestExportWithoutHistory(t *testing.T) {
	rng := testenv.Random(t)
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	web := mustReadWeb(t, ownWebs)
	load(t, r, 2, web)
	want, res := exportAs(t, r, everyExport[0], snapshot.Moment{})
	if got, _ := exportAs(t, r, everyExport[0], snapshot.Moment{TS: res.TS}); !bytes.Equal(got, want) {
		t.Error("what is still there is something else")
	}
	load(t, r, 2, rewritten(rng, web, 1))
	collect(t, r)
	wantNotKept(t, r, snapshot.Moment{TS: res.TS}, time.Time{})
	wantNotKept(t, r, snapshot.Moment{Time: time.Now()}, time.Time{})
	for _, m := range []snapshot.Moment{{TS: math.MaxUint64}, {Time: time.Now().Add(time.Hour)}} {
		_, err := r.ExportAs(t.Context(), repository.ExportOptions{Choice: everyExport[0], At: m}, io.Discard)
		if !errors.Is(err, snapshot.ErrFuture) {
			t.Errorf("at %s: %v", m, err)
		}
	}
}

// TestExportOfAnyMoment: while pages stream in and garbage is collected, exports of
// arbitrary moments succeed; no document is there twice.
func TestExportOfAnyMoment(t *testing.T) {
	rng := testenv.Random(t)
	web := mustReadWeb(t, ownWebs)
	r := open(t, t.TempDir(), repository.Options{Collect: true, History: time.Hour, Workers: 2})
	defer closeNow(t, r)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for round := range 3 {
			load(t, r, 2, shuffled(rng, rewritten(rng, web, round)))
		}
	}()
	exports := 0
	for running := true; running && exports < 10; {
		select {
		case <-done:
			running = false
		default:
		}
		at := snapshot.Moment{TS: r.DB().LastTimestamp()}
		for _, c := range everyExport {
			first, res := exportAs(t, r, c, at)
			if c == everyExport[0] {
				wantAscending(t, first)
			}
			if exports%3 != 0 {
				continue
			}
			again, _ := exportAs(t, r, c, at)
			if !bytes.Equal(first, again) {
				t.Fatalf("%s of %s is another one at the same moment, %+v", c.Format, c.Table, res)
			}
		}
		exports++
	}
	<-done
	t.Log(exports, "moments")
}

func wantAscending(t *testing.T, jsonl []byte) {
	t.Helper()
	var last page.URL
	for _, d := range decodeLines[export.Document](t, jsonl) {
		if d.URL <= last {
			t.Fatalf("%s after %s", d.URL, last)
		}
		last = d.URL
	}
}

func decodeLines[T any](t *testing.T, jsonl []byte) (records []T) {
	t.Helper()
	for d := json.NewDecoder(bytes.NewReader(jsonl)); d.More(); {
		var record T
		if err := d.Decode(&record); err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	return records
}

// TestExportedTables: the formats agree with each other, and with inspect.
func TestExportedTables(t *testing.T) {
	web := mustReadWeb(t, ownWebs)
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	load(t, r, 2, web)
	exports := make(map[export.Choice][]byte)
	counts := make(map[export.Choice]int)
	for _, c := range everyExport {
		data, res := exportAs(t, r, c, snapshot.Moment{})
		exports[c], counts[c] = data, res.Documents
	}
	docs := decodeLines[export.Document](t, exports[everyExport[0]])
	links := decodeLines[export.Link](t, exports[everyExport[1]])
	if len(docs) == 0 || len(links) == 0 || counts[everyExport[0]] != len(docs) || counts[everyExport[1]] != len(links) {
		t.Fatalf("%d documents, %d links, %v", len(docs), len(links), counts)
	}
	wantInlinks(t, docs, links)
	wantRanks(t, r, docs)
	wantHosts(t, r, web, links, exports[everyExport[4]])
	wantCaptures(t, r, web, exports[everyExport[5]])
	wantTerms(t, docs, exports[everyExport[6]])
}

// wantInlinks: the inlinks of a document are the links to its members from others.
func wantInlinks(t *testing.T, docs []export.Document, links []export.Link) {
	t.Helper()
	for _, d := range docs {
		inlinks := []export.Link{}
		for _, l := range links {
			if slices.Contains(d.Members, l.Target) && !slices.Contains(d.Members, l.Source) {
				inlinks = append(inlinks, l)
			}
		}
		slices.SortFunc(inlinks, func(a, b export.Link) int {
			return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Anchor, b.Anchor))
		})
		if !slices.Equal(inlinks, d.Inlinks) {
			t.Errorf("%s has the inlinks %v, by the links %v", d.URL, d.Inlinks, inlinks)
		}
	}
}

func inspected(t *testing.T, r *repository.Repository, u page.URL) *inspect.Inspection {
	t.Helper()
	i, err := inspect.URL(t.Context(), r, u, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// wantCaptures: one for each URL that was fetched, with status and time.
func wantCaptures(t *testing.T, r *repository.Repository, web []page.Fetch, file []byte) {
	t.Helper()
	got := make(map[page.URL]string)
	for lines := bufio.NewScanner(bytes.NewReader(file)); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), " ", 3)
		var fields struct {
			URL    page.URL `json:"url"`
			Status string   `json:"status"`
		}
		if err := json.Unmarshal([]byte(parts[2]), &fields); err != nil || got[fields.URL] != "" {
			t.Errorf("%q: %v", lines.Text(), err)
		}
		got[fields.URL] = fields.Status
	}
	fetched := 0
	for u := range slices.Values(slices.Compact(slices.Sorted(func(yield func(page.URL) bool) {
		for _, f := range web {
			if !yield(f.URL) {
				return
			}
		}
	}))) {
		i := inspected(t, r, u)
		if i.FetchedAt == nil {
			continue
		}
		fetched++
		if got[u] != fmt.Sprint(i.Status) {
			t.Errorf("%s has the status %q, inspect says %d", u, got[u], i.Status)
		}
	}
	if fetched == 0 || len(got) != fetched {
		t.Errorf("%d captures of %d", len(got), fetched)
	}
}

// wantTerms: the inverted index is that of the documents, by the index's own analysis.
func wantTerms(t *testing.T, docs []export.Document, file []byte) {
	t.Helper()
	c, err := export.NewCIFF(t.TempDir(), 0, "indexer: title and text of canonical pages; words folded and, by language, stemmed; docids by URL")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if err := c.Add(string(d.URL), analysis.Terms(d.Title, d.Text, d.Language)); err != nil {
			t.Fatal(err)
		}
	}
	var want bytes.Buffer
	if _, err := c.WriteTo(&want); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(file, want.Bytes()) {
		t.Errorf("%d bytes, want %d others", len(file), want.Len())
	}
}

// A reader that goes away, and a context that ends, end an export with their error.
func TestExportIsCutOff(t *testing.T) {
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	load(t, r, 2, mustReadWeb(t, ownWebs))
	gone := errors.New("gone")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	for _, c := range everyExport {
		opts := repository.ExportOptions{Choice: c}
		if _, err := r.ExportAs(t.Context(), opts, failing{gone}); !errors.Is(err, gone) {
			t.Errorf("%s of %s, and the reader gone: %v", c.Format, c.Table, err)
		}
		if _, err := r.ExportAs(ended, opts, io.Discard); err == nil {
			t.Errorf("%s of %s: done, though the context has ended", c.Format, c.Table)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
