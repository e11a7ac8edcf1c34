package live_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web/live"
)

// sharing is a repository whose observers run in other processes.
type sharing struct {
	watched
	waiting map[string]int
}

func (s sharing) Sample() repository.Sample {
	p := s.watched.Sample()
	p.Elsewhere = true
	return p
}

func (s sharing) Waiting(context.Context) (map[string]int, error) { return s.waiting, nil }

// TestObserversElsewhere: a server beside workers shows what waits for them in the store, and no
// idle pipeline of its own.
func TestObserversElsewhere(t *testing.T) {
	_, server := watch(t, sharing{watched{openRepository(t), nil}, map[string]int{"document": 41, "links": 1}}, live.Options{})
	page := get(t, server, "/status", http.StatusOK)
	for _, want := range []string{
		"Other processes of the deployment run the observers", "serving; other processes run the observers", "42 rows wait or run",
		`data-text="o/document/backlog">41<`, `data-text="o/document/rows">–<`, `data-text="fresh/total">–<`, "– transactions committed",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	f := families(t, get(t, server, "/metrics", http.StatusOK))
	if got := valueOf(f["indexer_observer_backlog_rows"], "observer", "document"); got != 41 {
		t.Errorf("a backlog of %v, want 41", got)
	}
	if f["indexer_pipeline_running"] != nil {
		t.Error("it says whether its own pipeline runs")
	}
}
