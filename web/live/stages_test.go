package live_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/webindexer/indexer/web/live"
)

// TestEveryObserverHasAStage: the drawing of the pipeline knows all observers of a repository.
func TestEveryObserverHasAStage(t *testing.T) {
	_, server := watch(t, watched{Repository: openRepository(t)}, live.Options{})
	res, err := http.Get(server.URL + "/status")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(body), "<h3>write the index</h3>") || strings.Contains(string(body), "<h3>other</h3>") {
		t.Errorf("%s", body)
	}
}
