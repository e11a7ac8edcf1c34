package opensearch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestSnapshotWithoutState: if the documents of a new snapshot cannot be counted, the server need
// not keep it.
func TestSnapshotWithoutState(t *testing.T) {
	kept := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "POST /name/_search/point_in_time":
			kept++
			fmt.Fprint(w, `{"pit_id":"one"}`)
		case "DELETE /_search/point_in_time":
			kept--
			fmt.Fprint(w, `{}`)
		case "POST /_search":
			http.Error(w, `{"error":{"type":"search_phase_execution_exception","reason":"no memory"}}`, http.StatusBadRequest)
		default:
			fmt.Fprint(w, `{}`)
		}
	}))
	defer s.Close()
	x := must(Open(must(ParseAddress(prefix+s.URL+"/name")), Options{RetryFor: time.Minute}))
	defer x.Close()
	if v, err := x.Snapshot(t.Context()); err == nil || v != nil || kept != 0 {
		t.Errorf("snapshot %v, %v; the server keeps %d", v, err, kept)
	}
}
