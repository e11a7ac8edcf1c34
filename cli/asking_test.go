package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store/engines"
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

// busyServer answers "long" in a data directory as many times as a process does at a time, until
// the returned function is called. It answers everything else at once.
func busyServer(t *testing.T, dir string) (letGo func()) {
	t.Helper()
	hold, began := make(chan struct{}), make(chan struct{}, 1)
	server, err := control.Serve(dir, func(_ context.Context, req control.Request, _, _ io.Writer) int {
		if req.Command == "long" {
			began <- struct{}{}
			<-hold
		}
		return statusDone
	})
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	letGo = sync.OnceFunc(func() { close(hold) })
	t.Cleanup(func() {
		letGo()
		asking.Wait()
		if err := server.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for busy := false; !busy; {
		refused := make(chan error, 1)
		asking.Go(func() {
			_, err := control.Ask(context.Background(), dir, control.Request{Command: "long"}, io.Discard, io.Discard)
			refused <- err
		})
		select {
		case <-began:
		case err := <-refused:
			if busy = errors.Is(err, control.ErrBusy); !busy {
				t.Fatal(err)
			}
		}
	}
	return letGo
}

// TestAskWhileBusy: a process that answers as many questions as it does at a time is asked again.
func TestAskWhileBusy(t *testing.T) {
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	a.cfg.Data, a.cfg.Store = t.TempDir(), "postgres://indexer@127.0.0.1:1/web"
	letGo := busyServer(t, a.cfg.Data)
	if done, err := a.tryToAsk(t.Context(), a.request("stats"), io.Discard); done || !errors.Is(err, control.ErrBusy) {
		t.Errorf("while it is busy: done %v, %v", done, err)
	}
	letGo()
	if err := a.ask(t.Context(), a.request("stats"), io.Discard); err != nil {
		t.Error(err)
	}
}

// TestLoadWhileBusy: a process that has no time to answer cannot be asked to release the directory. A
// command that loads says so when it gives up.
func TestLoadWhileBusy(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, privateMode); err != nil {
		t.Fatal(err)
	}
	table, err := engines.Open(t.Context(), repository.StoreDir(dir), repository.Groups(), engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}()
	busyServer(t, dir)
	synctest.Test(t, func(t *testing.T) {
		a := newApp(strings.NewReader(""), io.Discard, io.Discard)
		a.cfg.Data = dir
		_, err := a.openToLoad(t.Context())
		var said bytes.Buffer
		if status := report(err, &said, false); status != statusInUse || !strings.Contains(said.String(), "already answering") {
			t.Errorf("exit status %d: %s", status, &said)
		}
	})
}

// TestAskAnotherUser: the process that has the data directory belongs to a user who gives no access.
func TestAskAnotherUser(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root has access to everything")
	}
	dir := t.TempDir()
	server, err := control.Serve(dir, func(context.Context, control.Request, io.Writer, io.Writer) int { return statusDone })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "control.sock"), 0); err != nil {
		t.Fatal(err)
	}
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	a.cfg.Data = dir
	if done, err := a.askThere(t.Context(), a.request("stats"), io.Discard); !done || !notAskedDenied(err) {
		t.Errorf("done %v, %v", done, err)
	}
	if err := server.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAnotherStore: a question about a database is not answered from the store in the data directory,
// whose process has the same directory, nor from another database.
func TestAnotherStore(t *testing.T) {
	holder := &session{app: newApp(strings.NewReader(""), io.Discard, io.Discard)}
	dir := t.TempDir()
	server, err := control.Serve(dir, holder.answer)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	a.cfg.Data = dir
	for _, tt := range []struct {
		theirs, ours string
		answers      bool
	}{
		{"", "", true},
		{"", "postgres://indexer@127.0.0.1:1/web", false},
		{"postgres://indexer@127.0.0.1:1/other", "postgres://indexer@127.0.0.1:1/web", false},
		{"postgres://indexer:one@127.0.0.1:1/web", "postgres://indexer:two@127.0.0.1:1/web", true},
	} {
		holder.app.cfg.Store, a.cfg.Store = tt.theirs, tt.ours
		_, err := a.askThere(t.Context(), a.request("nothing"), io.Discard)
		if answers := !errors.Is(err, control.ErrNobody); answers != tt.answers {
			t.Errorf("%q is asked about %q: %v", tt.theirs, tt.ours, err)
		}
	}
}

// TestAskAfterInterrupt: a process that is interrupted while it answers has the question asked
// again, as one that is killed has.
func TestAskAfterInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	questions["long"] = func(ctx context.Context, _ *repository.Repository, _ control.Request, _, _ io.Writer) error {
		interrupt()
		return ctx.Err()
	}
	defer delete(questions, "long")
	s := &session{app: newApp(strings.NewReader(""), io.Discard, io.Discard)}
	var said bytes.Buffer
	if status := s.answer(ctx, control.Request{Command: "long"}, &said, &said); status != statusAskAgain || said.Len() > 0 {
		t.Errorf("status %d: %s", status, &said)
	}
}
