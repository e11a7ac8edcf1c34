package pdf

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/testenv"
)

func newReader(t *testing.T, role string) *Reader {
	t.Helper()
	r := New(Options{Command: commandOf(role)})
	testenv.CloseAtEnd(t, r)
	return r
}

// TestHostile: a document that cannot be read costs itself, and the next one is read.
func TestHostile(t *testing.T) {
	r := newReader(t, "child")
	r.limits.processor = 200 * time.Millisecond
	r.limits.real, r.limits.realOnly = time.Hour, 10*time.Second
	for _, tt := range []struct{ document, want string }{
		{"unreadable rubbish", "it is damaged: rubbish"},
		{"crash", "the process that read it ended: exit status 3"},
		{"panic", "the process that read it ended: exit status 2"},
		{"loop", "it took more than"},
		{"babble", "the process that read it"},
		{"long", "the text of the document is too long"},
	} {
		html, err := r.Read(t.Context(), []byte(tt.document))
		unreadable := Unreadable("")
		if !errors.As(err, &unreadable) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v", tt.document, html, err)
		}
		html, err = r.Read(t.Context(), []byte("html <p>after "+tt.document))
		if err != nil || string(html) != "<p>after "+tt.document {
			t.Errorf("after %s: %q, %v", tt.document, html, err)
		}
	}
	r.limits.body = 10
	if _, err := r.Read(t.Context(), []byte("html <p>of more bytes")); !strings.Contains(fmt.Sprint(err), "at most 10 are read") {
		t.Errorf("a large document: %v", err)
	}
	if n := r.Unreadable(); n != 7 {
		t.Errorf("%d unreadable documents", n)
	}
}

// TestRealTime: a document that uses no processor time is ended as well.
func TestRealTime(t *testing.T) {
	r := newReader(t, "child")
	if _, err := r.Read(t.Context(), []byte("html started")); err != nil {
		t.Fatal(err)
	}
	r.limits.real, r.limits.realOnly = 10*time.Millisecond, 10*time.Millisecond
	_, err := r.Read(t.Context(), []byte("wait"))
	if unreadable := Unreadable(""); !errors.As(err, &unreadable) || !strings.Contains(err.Error(), "more than 10ms") {
		t.Error(err)
	}
}

// TestTooLong: a body that is too large is not sent.
func TestTooLong(t *testing.T) {
	r := newReader(t, "dying")
	r.limits.body = 3
	if _, err := r.Read(t.Context(), []byte("html")); err == nil || !strings.Contains(err.Error(), "4 bytes") {
		t.Error(err)
	}
}

// TestKept: a child reads many documents, one after the other.
func TestKept(t *testing.T) {
	r := newReader(t, "child")
	pids := make(map[string]int)
	for range 10 {
		pid, err := r.Read(t.Context(), []byte("pid"))
		if err != nil {
			t.Fatal(err)
		}
		pids[string(pid)]++
	}
	if len(pids) != 1 {
		t.Errorf("processes: %v", pids)
	}
}

// TestBounded: however many documents come at once, there are few children.
func TestBounded(t *testing.T) {
	r := newReader(t, "child")
	var started atomic.Int32
	command := r.command
	r.command = func() (*exec.Cmd, error) { started.Add(1); return command() }
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			want := fmt.Sprintf("text %d", i)
			if html, err := r.Read(t.Context(), []byte("html "+want)); err != nil || string(html) != want {
				t.Errorf("%q, %v", html, err)
			}
		})
	}
	wg.Wait()
	if n := started.Load(); n > maxChildren {
		t.Errorf("%d children", n)
	}
}

// TestCancelled: a document whose context ends is not blamed for it.
func TestCancelled(t *testing.T) {
	r := newReader(t, "child")
	if _, err := r.Read(t.Context(), []byte("html started")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the test says so")
	cancel(reason)
	_, err := r.Read(ctx, []byte("wait"))
	if unreadable := Unreadable(""); !errors.Is(err, reason) || errors.As(err, &unreadable) {
		t.Error(err)
	}
	if html, err := r.Read(t.Context(), []byte("html next")); string(html) != "next" {
		t.Error(err)
	}
}

// TestNoChild: if no child can be started, that is not the document's fault.
func TestNoChild(t *testing.T) {
	for role, want := range map[string]string{"broken": "no compiler", "dying": "the process that read it ended", "babble": "the process that read it ended"} {
		_, err := newReader(t, role).Read(t.Context(), []byte("html text"))
		if unreadable := Unreadable(""); err == nil || errors.As(err, &unreadable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", role, err)
		}
	}
	r := newReader(t, "child")
	_, err := r.Read(t.Context(), []byte("fail the engine is broken"))
	if unreadable := Unreadable(""); err == nil || errors.As(err, &unreadable) || !strings.Contains(err.Error(), "the engine is broken") {
		t.Error(err)
	}
	if _, err := r.Read(t.Context(), []byte("html text")); err != nil {
		t.Error(err)
	}
}

// TestClosed: a closed reader reads nothing.
func TestClosed(t *testing.T) {
	r := New(Options{Command: commandOf("child")})
	if _, err := r.Read(t.Context(), []byte("html text")); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(t.Context(), []byte("html text")); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

// TestOrphan: a child ends with its parent, even in the middle of a document.
func TestOrphan(t *testing.T) {
	c := killtest.Start(t, killtest.Role(t, "parent"))
	c.Until("started")
	c.Kill()
	if c.Wait(); !c.Killed() { // it waits for both, and the test fails if one does not end
		t.Error("the parent ended by itself")
	}
}
