package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/internal/control"
)

// TestAskAgain: a process that releases the data directory of a shared store, too, has its
// questions asked again. The status that says so is for commands only.
func TestAskAgain(t *testing.T) {
	dir := t.TempDir()
	var asked atomic.Int32
	server, err := control.Serve(dir, func(_ context.Context, _ control.Request, stdout, _ io.Writer) int {
		if asked.Add(1) == 1 {
			return statusAskAgain
		}
		_, _ = io.WriteString(stdout, "answer")
		return statusDone
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	a.cfg.Data, a.cfg.Store = dir, "postgres://indexer@127.0.0.1:1/web"
	var out bytes.Buffer
	if err := a.ask(t.Context(), a.request("stats"), &out); err != nil || out.String() != "answer" || asked.Load() != 2 {
		t.Errorf("asked %d times: %q, %v", asked.Load(), &out, err)
	}
}
