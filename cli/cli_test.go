package cli

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/config"
)

// blocked is a writer whose Write waits.
type blocked struct{ began, letGo chan struct{} }

func (b *blocked) Write(p []byte) (int, error) {
	close(b.began)
	<-b.letGo
	return len(p), nil
}

// With the second interrupt Main returns although the command does not.
func TestSecondInterrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	out := &blocked{began: make(chan struct{}), letGo: make(chan struct{})}
	defer close(out.letGo)
	status := make(chan int)
	go func() { status <- Main(context.Background(), []string{"version"}, nil, out, &bytes.Buffer{}) }()
	<-out.began
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} { // two of a kind could arrive as one
		if err := syscall.Kill(os.Getpid(), s.(syscall.Signal)); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-status; got != statusInterrupted {
		t.Errorf("exit status %d", got)
	}
}

// A server ends cleanly when its terminal closes, unless nohup started it.
func TestHangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests run with SIGHUP ignored, as nohup does")
	}
	server, _ := serveChild(t, "", lighthouseData(t))
	server.Signal(syscall.SIGHUP)
	if status := server.ends(); status != 0 {
		t.Errorf("exit status %d: %s", status, server.Said())
	}
	if !slices.Contains(interrupts(), os.Signal(syscall.SIGHUP)) {
		t.Error("SIGHUP is no interrupt")
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if slices.Contains(interrupts(), os.Signal(syscall.SIGHUP)) {
		t.Error("SIGHUP is an interrupt although it is ignored")
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"Grüße, 日本語 🙂":        "Grüße, 日本語 🙂",
		"a\x1b[31mb":          "a [31mb",
		"a\tb\nc\rd\x9be":     "a b c d e", // an invalid byte is no character either
		"a\u202eb\u2066c":     "a b c",
		"a\u0085b\u2028c":     "a b c",
		"zero\u200dwidth\x00": "zero\u200dwidth ",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestDefaultWeights: the settings and the library agree on what is the default.
func TestDefaultWeights(t *testing.T) {
	a := &app{cfg: config.Default()}
	if got := search.Weights(a.cfg.Query.Weights); got != search.DefaultWeights {
		t.Errorf("settings %+v, library %+v", got, search.DefaultWeights)
	}
}
