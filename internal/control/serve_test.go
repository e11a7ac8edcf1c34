package control

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// waiting is a handler that says when it began, and waits until it is released
// or its request is given up.
type waiting struct {
	began, ended chan struct{}
	letGo        chan struct{}
}

func newWaiting() *waiting {
	return &waiting{began: make(chan struct{}, 2*maxRequests), ended: make(chan struct{}, 2*maxRequests), letGo: make(chan struct{})}
}

func (w *waiting) handle(ctx context.Context, _ Request, stdout, _ io.Writer) int {
	w.began <- struct{}{}
	defer func() { w.ended <- struct{}{} }()
	select {
	case <-w.letGo:
		_, _ = io.WriteString(stdout, "done\n")
		return 0
	case <-ctx.Done():
		return 1
	}
}

type reply struct {
	status int
	err    error
	output string
}

// ask asks in the background.
func ask(ctx context.Context, dir string) <-chan reply {
	done := make(chan reply, 1)
	go func() {
		var out bytes.Buffer
		status, err := Ask(ctx, dir, Request{}, &out, io.Discard)
		done <- reply{status, err, out.String()}
	}()
	return done
}

func TestCancelReachesTheHandler(t *testing.T) {
	dir, w := t.TempDir(), newWaiting()
	serve(t, dir, w.handle)
	ctx, cancel := context.WithCancelCause(t.Context())
	answer := ask(ctx, dir)
	<-w.began
	interrupted := errors.New("interrupted")
	cancel(interrupted)
	<-w.ended
	if r := <-answer; !errors.Is(r.err, interrupted) {
		t.Errorf("asking returned %v", r.err)
	}
}

// A client that dies ends its own request, and no other's.
func TestClientDies(t *testing.T) {
	dir, w := t.TempDir(), newWaiting()
	serve(t, dir, w.handle)
	other := ask(t.Context(), dir)
	<-w.began
	conn, err := net.Dial("unix", filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	if err := writeJSONFrame(conn, frameRequest, Request{Version: version}); err != nil {
		t.Fatal(err)
	}
	<-w.began
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	<-w.ended
	close(w.letGo)
	if r := <-other; r.err != nil || r.output != "done\n" {
		t.Errorf("the other one: %+v", r)
	}
}

// Writing to a client that is gone fails; the handler gets the error and the server
// keeps working.
func TestClientDiesWhileReading(t *testing.T) {
	dir := t.TempDir()
	failed := make(chan error, 1)
	serve(t, dir, func(ctx context.Context, req Request, stdout, _ io.Writer) int {
		if req.Command == "quick" {
			return 7
		}
		for {
			if _, err := stdout.Write(make([]byte, 1<<20)); err != nil {
				failed <- err
				return 1
			}
		}
	})
	if _, err := Ask(t.Context(), dir, Request{}, &stops{after: 100_000}, io.Discard); !errors.Is(err, errStopped) {
		t.Errorf("asking returned %v", err)
	}
	if err := <-failed; !errors.Is(err, errAskerGone) {
		t.Errorf("the handler got %v", err)
	}
	if status, err := Ask(t.Context(), dir, Request{Command: "quick"}, io.Discard, io.Discard); err != nil || status != 7 {
		t.Errorf("afterwards: %d, %v", status, err)
	}
}

var errStopped = errors.New("stopped reading")

// stops is a writer that fails after some bytes, as a closed pipe does.
type stops struct{ after int }

func (s *stops) Write(p []byte) (int, error) {
	if s.after -= len(p); s.after < 0 {
		return 0, errStopped
	}
	return len(p), nil
}

func TestBusy(t *testing.T) {
	dir, w := t.TempDir(), newWaiting()
	s := serve(t, dir, w.handle)
	var answers []<-chan reply
	for range maxRequests {
		answers = append(answers, ask(t.Context(), dir))
		<-w.began
	}
	if r := <-ask(t.Context(), dir); !errors.Is(r.err, ErrBusy) {
		t.Errorf("one too many: %+v", r)
	}
	close(w.letGo)
	for _, a := range answers {
		if r := <-a; r.err != nil || r.output != "done\n" {
			t.Errorf("%+v", r)
		}
	}
	for s.Requests() > 0 { // the server ends a request after its client has the answer
		runtime.Gosched()
	}
	if r := <-ask(t.Context(), dir); r.err != nil {
		t.Errorf("when there is room again: %+v", r)
	}
}

func TestCloseWaits(t *testing.T) {
	dir, w := t.TempDir(), newWaiting()
	s, err := Serve(dir, w.handle)
	if err != nil {
		t.Fatal(err)
	}
	answer := ask(t.Context(), dir)
	<-w.began
	closed := make(chan error, 1)
	go func() { closed <- s.Close(t.Context()) }()
	for r := (reply{}); !errors.Is(r.err, ErrNobody); { // until it accepts no more requests
		ctx, cancel := context.WithCancel(t.Context())
		asked := ask(ctx, dir)
		select {
		case r = <-asked:
		case <-w.began:
			cancel()
			<-w.ended
		}
		cancel()
	}
	select {
	case err := <-closed:
		t.Errorf("it is closed before its request has ended: %v", err)
		closed <- err
	default:
	}
	close(w.letGo)
	if r := <-answer; r.err != nil || r.output != "done\n" {
		t.Errorf("%+v", r)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestCloseCancelsWhenItMayNotWait(t *testing.T) {
	dir, w := t.TempDir(), newWaiting()
	s, err := Serve(dir, w.handle)
	if err != nil {
		t.Fatal(err)
	}
	answer := ask(t.Context(), dir)
	<-w.began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	if r := <-answer; r.err != nil || r.status != 1 {
		t.Errorf("%+v", r)
	}
}

// A client that takes nothing cannot keep the server from closing.
func TestCloseDespiteStalledClient(t *testing.T) {
	dir := t.TempDir()
	writing := make(chan struct{}, 1)
	s, err := Serve(dir, func(_ context.Context, _ Request, stdout, _ io.Writer) int {
		writing <- struct{}{}
		for {
			if _, err := stdout.Write(make([]byte, 1<<20)); err != nil {
				return 1
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := writeJSONFrame(conn, frameRequest, Request{Version: version}); err != nil {
		t.Fatal(err)
	}
	<-writing
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

// Whatever a client sends, the server refuses it and keeps working.
func TestNonsenseIsRefused(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, echo)
	for name, said := range map[string]string{
		"another version": "q\x00\x00\x00\x0d" + `{"version":9}`,
		"not JSON":        "q\x00\x00\x00\x03abc",
		"another kind":    "o\x00\x00\x00\x00",
		"a huge frame":    "q\xff\xff\xff\xff",
		"HTTP":            "GET / HTTP/1.1\r\n\r\n",
	} {
		conn, err := net.Dial("unix", filepath.Join(dir, socketName))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, said); err != nil {
			t.Fatal(err)
		}
		if _, err := receive(conn, io.Discard, io.Discard); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.Close()
	}
	if status, err := Ask(t.Context(), dir, Request{}, io.Discard, io.Discard); err != nil || status != 5 {
		t.Errorf("afterwards: %d, %v", status, err)
	}
}

// An answer without its end is not mistaken for a whole one.
func TestCutOff(t *testing.T) {
	for _, said := range []string{"", "o", "o\x00\x00\x00\x05ab", "o\x00\x00\x00\x02ab"} {
		if _, err := receive(strings.NewReader(said), io.Discard, io.Discard); !errors.Is(err, ErrCutOff) {
			t.Errorf("%q: %v", said, err)
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add("o\x00\x00\x00\x02abx\x00\x00\x00\x0c{\"status\":3}")
	f.Add("r\x00\x00\x00\x0e{\"reason\":\"x\"}")
	f.Fuzz(func(t *testing.T, said string) {
		var out bytes.Buffer
		if _, err := receive(strings.NewReader(said), &out, &out); err == nil && !strings.Contains(said, "x") {
			t.Error("an end where none was said")
		}
	})
}
