package live_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/office/officetest"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web/live"
)

// The metrics count documents that cannot be read, by format.
func TestUnreadableDocuments(t *testing.T) {
	r, err := repository.Open(t.Context(), t.TempDir(), repository.Options{Office: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	_, server := watch(t, watched{r, nil}, live.Options{})
	for i, body := range []string{"rubbish", string(officetest.Word("Report", "text", "")), "more rubbish"} {
		f := page.Fetch{
			URL: page.URL("https://a.example/" + string(rune('a'+i))), Time: time.Now(), Status: http.StatusOK,
			Header: http.Header{"Content-Type": {officetest.WordType}}, Body: []byte(body),
		}
		if _, err := r.Load(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := families(t, get(t, server, "/metrics", http.StatusOK))["indexer_documents_unreadable_total"]
	for format, want := range map[string]float64{"office": 2, "pdf": 0} {
		if got := valueOf(f, "format", format); got != want {
			t.Errorf("%s: %v, want %v", format, got, want)
		}
	}
}

// A client that leaves while the figures are read does not keep them from the next one.
func TestClientLeaves(t *testing.T) {
	l, server := watch(t, watched{openRepository(t), frontierOfTest()}, live.Options{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	l.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, "/status", nil))
	f := families(t, get(t, server, "/metrics", http.StatusOK))
	if got := valueOf(f["indexer_status_readable"], "", ""); got != 1 {
		t.Errorf("indexer_status_readable is %v, want 1", got)
	}
}
