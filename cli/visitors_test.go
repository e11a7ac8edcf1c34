package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
)

// visitors request everything from a server again and again until the test stops them.
// Each response has to be a page, or say when to ask again; the events of the status
// must continue, and none may call the pipeline stopped.
type visitors struct {
	s      *served
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu      sync.Mutex
	answers map[int]int
	states  []string // of the pipeline, one after the other
	ended   bool     // the events
	news    *sync.Cond
}

// visitEvery is the pause between two visits of a page. It is much shorter than a handover, and leaves
// the processor to the processes that hand over.
const visitEvery = 10 * time.Millisecond

func newVisitors(s *served) (*visitors, context.Context) {
	ctx, cancel := context.WithCancel(s.t.Context())
	v := &visitors{s: s, cancel: cancel, answers: make(map[int]int)}
	v.news = sync.NewCond(&v.mu)
	v.all.Go(func() {
		v.follow(ctx)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.ended = true
		v.news.Broadcast()
	})
	return v, ctx
}

func visitAll(s *served) *visitors {
	v, ctx := newVisitors(s)
	const lamp = "url=https://skerryrock.example/lamp"
	for _, path := range []string{"/api/query?q=lamp", "/doc?" + lamp, "/api/inspect?" + lamp, "/copy?" + lamp, "/api/stats", "/metrics", "/status"} {
		v.all.Go(func() {
			for ctx.Err() == nil {
				v.get(ctx, path)
				_ = sleep.For(ctx, visitEvery) // the context says when to stop
			}
		})
	}
	return v
}

func (v *visitors) get(ctx context.Context, path string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.s.url+path, nil)
	if err != nil {
		v.s.t.Error(err)
		return
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			v.s.t.Errorf("GET %s: no answer: %v", path, err)
			v.cancel()
		}
		return
	}
	body, _ := io.ReadAll(res.Body) // its end is no matter here
	_ = res.Body.Close()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answers[res.StatusCode]++
	switch {
	case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "":
	case res.StatusCode != http.StatusOK && ctx.Err() == nil:
		v.s.t.Errorf("GET %s: %d %s", path, res.StatusCode, body)
	case strings.Contains(string(body), `data-state="bad"`):
		v.s.t.Errorf("GET %s: the pipeline is called stopped:\n%s", path, body)
	}
}

// follow reads the events of the status.
func (v *visitors) follow(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.s.url+"/status/events", nil)
	if err != nil {
		v.s.t.Error(err)
		return
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		v.s.t.Error(err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var u struct {
			View struct {
				State string
				Text  map[string]string
			}
		}
		if err := json.Unmarshal([]byte(data), &u); err != nil {
			v.s.t.Error(err)
		}
		if u.View.State == "bad" {
			v.s.t.Errorf("the events call the pipeline %s", u.View.Text["state"])
		}
		v.mu.Lock()
		v.states = append(v.states, u.View.State)
		v.news.Broadcast()
		v.mu.Unlock()
	}
	if ctx.Err() == nil {
		v.s.t.Error("the events ended: ", lines.Err())
	}
}

// untilState waits for a state in an event that is still to come.
func (v *visitors) untilState(want string) {
	v.s.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for seen := len(v.states); ; v.news.Wait() {
		switch {
		case slices.Contains(v.states[seen:], want):
			return
		case v.ended:
			v.s.t.Fatalf("the events ended before the state was %q: %q", want, v.states)
		}
	}
}

// leave ends the visits and tells how they were answered.
func (v *visitors) leave() map[int]int {
	v.cancel()
	v.all.Wait()
	return v.answers
}
