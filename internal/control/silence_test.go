package control

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// between runs a conversation in fake time, over a connection in memory.
func between(t *testing.T, serve func(net.Conn), stdout io.Writer) (status int, took time.Duration, err error) {
	synctest.Test(t, func(t *testing.T) {
		asking, serving := net.Pipe()
		done := make(chan struct{})
		go func() { defer close(done); serve(serving) }()
		begun := time.Now()
		status, err = converse(t.Context(), asking, Request{}, stdout, io.Discard)
		took = time.Since(begun)
		<-done
	})
	return status, took, err
}

// An answer may take any time, before its first word and after it.
func TestLongAnswer(t *testing.T) {
	var out bytes.Buffer
	status, took, err := between(t, func(conn net.Conn) {
		serveConn(context.Background(), conn, func(_ context.Context, _ Request, stdout, stderr io.Writer) int {
			time.Sleep(3 * time.Hour)
			_, _ = io.WriteString(stderr, "half of it\n") // flushes nothing of stdout
			_, _ = io.WriteString(stdout, "all of it\n")
			time.Sleep(3 * time.Hour)
			return 5
		})
	}, &out)
	if err != nil || status != 5 || out.String() != "all of it\n" || took != 6*time.Hour {
		t.Errorf("status %d, %v, output %q, after %v", status, err, out.String(), took)
	}
}

// slow is a reader of the output that starts late.
type slow struct{ io.Writer }

func (s slow) Write(p []byte) (int, error) {
	time.Sleep(3 * silenceLimit)
	return s.Writer.Write(p)
}

// A slow reader of the client's output may keep the client waiting.
func TestSlowReader(t *testing.T) {
	var out bytes.Buffer
	want := strings.Repeat("x", 3*maxFrame)
	status, _, err := between(t, func(conn net.Conn) {
		serveConn(context.Background(), conn, func(_ context.Context, _ Request, stdout, _ io.Writer) int {
			_, _ = io.WriteString(stdout, want)
			return 0
		})
	}, slow{&out})
	if err != nil || status != 0 || out.String() != want {
		t.Errorf("status %d, %v, %d bytes", status, err, out.Len())
	}
}

// A process that is stopped accepts the request, because the kernel does so for it,
// and is silent; or it is stopped in the middle of its answer, or of a frame.
func TestSilence(t *testing.T) {
	for name, said := range map[string]string{
		"never said anything":      "",
		"after a sign of life":     "a\x00\x00\x00\x00",
		"after a part of a header": "o\x00\x00",
		"after a part of a frame":  "o\x00\x00\x00\x05ab",
		"after output":             "o\x00\x00\x00\x02ab",
	} {
		t.Run(name, func(t *testing.T) {
			_, took, err := between(t, func(conn net.Conn) {
				if _, err := readRequest(context.Background(), conn); err != nil {
					t.Error(err)
				}
				_, _ = io.WriteString(conn, said)
				_, _ = io.Copy(io.Discard, conn) // until the client is gone
				_ = conn.Close()
			}, io.Discard)
			if !errors.Is(err, ErrSilent) || took != silenceLimit {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}

// Not even the request is taken.
func TestNotHeard(t *testing.T) {
	_, took, err := between(t, func(conn net.Conn) {
		time.Sleep(2 * silenceLimit)
		_ = conn.Close()
	}, io.Discard)
	if !errors.Is(err, ErrSilent) || took != silenceLimit {
		t.Errorf("%v after %v", err, took)
	}
}

// TestCloseDespiteSilentClient: a client that has connected and sends nothing does not keep a
// server from closing, and is told nothing that would stop it from asking the next one.
func TestCloseDespiteSilentClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan struct{})
		go func() {
			defer close(served)
			serveConn(ctx, conn, nil)
		}()
		synctest.Wait()
		begun := time.Now()
		cancel()
		if kind, _, err := readFrame(client); err != io.EOF {
			t.Errorf("the client got %q, %v", kind, err)
		}
		<-served
		if took := time.Since(begun); took > 0 {
			t.Errorf("the server waited %v for the request", took)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
}
