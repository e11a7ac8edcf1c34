package live_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web/live"
)

// follower is a client of the events.
type follower struct {
	t    *testing.T
	body *bufio.Reader
	resp *http.Response
}

type event struct {
	id   int64
	data struct {
		View struct {
			State  string            `json:"state"`
			Text   map[string]string `json:"text"`
			Hosts  []map[string]any  `json:"hosts"`
			Crawls bool              `json:"crawls"`
		} `json:"view"`
		Points []struct {
			Seq int64 `json:"seq"`
			N   int64 `json:"n"`
		} `json:"points"`
	}
}

func follow(t *testing.T, server *httptest.Server, lastID string) *follower {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/status/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return &follower{t, bufio.NewReader(resp.Body), resp}
}

// next returns the next event with data.
func (f *follower) next() (e event) {
	f.t.Helper()
	for {
		line, err := f.body.ReadString('\n')
		if err != nil {
			f.t.Fatal(err)
		}
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			if e.id, err = strconv.ParseInt(id, 10, 64); err != nil {
				f.t.Fatal(err)
			}
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(data), &e.data); err != nil {
				f.t.Fatalf("%v: %s", err, data)
			}
			return e
		}
	}
}

// Events are numbered by their last point. A client that reconnects gets the points after
// the last one it got; a client with a foreign number gets all.
func TestEventsGoOn(t *testing.T) {
	_, server := watch(t, watched{openRepository(t), nil}, live.Options{})
	f := follow(t, server, "")
	if ct := f.resp.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Errorf("content type %q", ct)
	}
	first, second := f.next(), f.next()
	if first.data.Points[0].Seq != 1 || second.data.Points[0].Seq != first.id+1 || second.data.View.State != "good" {
		t.Errorf("first %+v, second %+v", first, second)
	}
	back := follow(t, server, strconv.FormatInt(first.id, 10)).next()
	if back.data.Points[0].Seq != first.id+1 {
		t.Errorf("after %d comes %d", first.id, back.data.Points[0].Seq)
	}
	for _, id := range []string{"99999999", "-3", "x", "9223372036854775808"} {
		if e := follow(t, server, id).next(); e.data.Points[0].Seq != 1 {
			t.Errorf("after the unknown %s comes %d, not all", id, e.data.Points[0].Seq)
		}
	}
}

// A client above the limit is refused, and admitted once another has gone.
func TestEventsAreBounded(t *testing.T) {
	_, server := watch(t, watched{openRepository(t), nil}, live.Options{Clients: 2})
	a, b := follow(t, server, ""), follow(t, server, "")
	a.next()
	b.next()
	c := follow(t, server, "")
	if c.resp.StatusCode != http.StatusServiceUnavailable || c.resp.Header.Get("Retry-After") == "" {
		t.Fatalf("a third client got %d", c.resp.StatusCode)
	}
	if why, err := io.ReadAll(c.resp.Body); err != nil || !strings.Contains(string(why), "no more clients can follow the status (limit: 2)") {
		t.Errorf("a third client was told %q, %v", why, err)
	}
	if err := a.resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	for d := follow(t, server, ""); d.resp.StatusCode != http.StatusOK; d = follow(t, server, "") {
		if d.resp.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("status %d", d.resp.StatusCode)
		}
	}
}

// Of a hundred concurrent clients, as many as the limit are admitted, and all get an answer.
func TestManyFollowers(t *testing.T) {
	_, server := watch(t, broken{}, live.Options{})
	var mu sync.Mutex
	answers := make(map[int]int)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			f := follow(t, server, "") // stays until the test ends
			mu.Lock()
			defer mu.Unlock()
			answers[f.resp.StatusCode]++
		})
	}
	all.Wait()
	if answers[http.StatusOK] != 32 || answers[http.StatusServiceUnavailable] != 68 {
		t.Errorf("the answers are %v", answers)
	}
	get(t, server, "/status", http.StatusOK)
	get(t, server, "/readyz", http.StatusOK)
}

// Close ends the events of all clients before it returns.
func TestCloseEndsEvents(t *testing.T) {
	l, server := watch(t, watched{openRepository(t), nil}, live.Options{})
	f := follow(t, server, "")
	f.next()
	l.Close()
	for {
		if _, err := f.body.ReadString('\n'); err != nil {
			return // the end of the stream, and no test that hangs
		}
	}
}

// The reason why a pipeline has stopped may include hostile text from a page.
func TestHostileReasons(t *testing.T) {
	_, server := watch(t, broken{fmt.Errorf("%w: row \"https://evil.example/<script>\u202e\x00\": %s", notify.ErrStopped, strings.Repeat("long ", 1000))}, live.Options{})
	page := get(t, server, "/status", http.StatusOK)
	if strings.Contains(page, "<script>\"") || strings.ContainsAny(page, "\u202e\x00") || strings.Contains(page, strings.Repeat("long ", 100)) {
		t.Errorf("the page is %q", page)
	}
	if e := follow(t, server, "").next(); strings.ContainsAny(e.data.View.Text["state"], "\u202e\x00") || !strings.Contains(e.data.View.Text["state"], "https://evil.example/<script>") {
		t.Errorf("the event has %q", e.data.View.Text["state"])
	}
}

// Names chosen by strangers are shown as text, without characters that change its direction.
func TestHostileHostNames(t *testing.T) {
	frontier := &live.Frontier{HostsTotal: 1, Hosts: []live.Host{{Host: "<script>alert(1)</script>\u202egro.elpmaxe\x00", Why: strings.Repeat("long ", 100) + "\u2066"}}}
	_, server := watch(t, watched{openRepository(t), frontier}, live.Options{})
	page := get(t, server, "/status", http.StatusOK)
	if strings.Contains(page, "<script>alert") || strings.ContainsAny(page, "\u202e\u2066\x00") || !strings.Contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;gro.elpmaxe") {
		t.Errorf("the page shows the host as it is:\n%s", page)
	}
	f := follow(t, server, "")
	e := f.next()
	for !e.data.View.Crawls { // the next second has the frontier that the page had read
		e = f.next()
	}
	host, why := e.data.View.Hosts[0]["host"].(string), e.data.View.Hosts[0]["why"].(string)
	if strings.ContainsAny(host, "\u202e\x00") || len([]rune(why)) > 161 {
		t.Errorf("host %q, why %q", host, why)
	}
}

// broken is a source that can only take a sample.
type broken struct{ notReady error }

func (b broken) Sample() repository.Sample {
	return repository.Sample{Time: time.Now(), NotReady: b.notReady, Observers: []notify.Stats{{Observer: "unheard-of", Backlog: 3}}}
}
func (broken) FoundSince(time.Time) observers.Latency { return observers.Latency{} }
func (broken) Space() (repository.Space, error) {
	return repository.Space{}, errors.New("the disk is gone from /secret/path")
}
func (broken) DeadCount(context.Context) (map[string]int, error) { return nil, errors.New("no") }
func (broken) Waiting(context.Context) (map[string]int, error)   { return nil, errors.New("no") }
func (broken) Frontier(context.Context, int) (*live.Frontier, error) {
	return nil, errors.New("no")
}

// Figures that cannot be read are missing; all others are shown, even for observers that
// the drawing lacks.
func TestBrokenSource(t *testing.T) {
	_, server := watch(t, broken{notify.ErrPaused}, live.Options{})
	page := get(t, server, "/status", http.StatusOK)
	for _, want := range []string{"unheard-of", "paused: no observers run", "<dd data-text=\"space/store\">unknown</dd>", "<b data-text=\"o/unheard-of/backlog\">3</b>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q:\n%s", want, page)
		}
	}
	metrics := get(t, server, "/metrics", http.StatusOK)
	if !strings.Contains(metrics, "indexer_status_readable 0") || strings.Contains(page+metrics, "/secret") {
		t.Errorf("metrics:\n%s", metrics)
	}
}
