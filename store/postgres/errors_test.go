package postgres

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/store"
)

// TestOpenErrorSaysItOnce: an error of Open names the place once, on one line, and says what
// to do.
func TestOpenErrorSaysItOnce(t *testing.T) {
	_, err := Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", []store.GroupSpec{{Name: "app"}}, Options{RetryFor: time.Nanosecond})
	if err == nil {
		t.Fatal("a server at port 1")
	}
	text := err.Error()
	for _, once := range []string{"store: ", "schema indexer on 127.0.0.1:1/none", "connection refused"} {
		if strings.Count(text, once) != 1 {
			t.Errorf("not once %q: %s", once, text)
		}
	}
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the server may be restarting: %v", err)
	}
	if strings.Contains(text, "\n") || !strings.HasSuffix(text, "check that the server runs, and the host and port in the setting store") {
		t.Errorf("%q", text)
	}
}
