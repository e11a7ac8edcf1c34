package progress

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSpec shows what is printed, in exact fake time. testdata/spec has the
// commands: each block runs for a time over work that does a part each second.
func TestSpec(t *testing.T) {
	datadriven.RunTest(t, "testdata/spec", func(t *testing.T, d *datadriven.TestData) string {
		var out bytes.Buffer
		synctest.Test(t, func(t *testing.T) { show(t, d, &out) })
		return strings.NewReplacer("\r", "<cr>", "\x1b[K", "<clear>", "<clear>\n", "<clear>\n").Replace(out.String())
	})
}

func show(t *testing.T, d *datadriven.TestData, out *bytes.Buffer) {
	var seconds, width, size int
	d.ScanArgs(t, "seconds", &seconds)
	d.MaybeScanArgs(t, "width", &width)
	d.MaybeScanArgs(t, "size", &size)
	var rows int // that observers do each second, of 30 that are woken until all is read
	d.MaybeScanArgs(t, "rows", &rows)
	if size == 0 {
		size = -1
	}
	begun := time.Now()
	state := func() State {
		done := int64(time.Since(begun).Seconds())
		if rows > 0 {
			s := State{Records: 30 * min(done, 10), Bytes: 1000 * min(done, 10), Size: 10_000, Done: int64(rows) * done, Of: 1}
			if s.Backlog = int(s.Records - s.Done); done >= 10 {
				s.Phase = "everything is loaded; observers are finishing"
			}
			return s
		}
		s := State{Records: 30 * done, Pages: 10 * done, Bytes: 1000 * done, Size: int64(size), FilesDone: int(done) / 6, Of: 2}
		if s.Elsewhere = d.HasArg("elsewhere"); !s.Elsewhere {
			s.Backlog, s.Latency = 17, 85*time.Millisecond
		}
		return s
	}
	r := Start(out, state, Options{Terminal: d.Cmd == "terminal", Width: width})
	time.Sleep(time.Duration(seconds)*time.Second + time.Millisecond)
	if d.HasArg("message") {
		fmt.Fprintln(r, "something happened")
	}
	r.Stop()
}

// At the beginning of large work with a backlog from before, there is no estimate yet.
func TestLongEstimate(t *testing.T) {
	s := State{Bytes: 1 << 20, Size: 1 << 40, Backlog: 1_000_000, Done: 1, Of: 1}
	if line := s.line(2 * time.Second); strings.Contains(line, "left") {
		t.Errorf("shown: %s", line)
	}
}

// The latency of waiting pages is an estimate, too. It must not exceed that of the whole work.
func TestLongLatency(t *testing.T) {
	s := State{Phase: "everything is loaded", Backlog: 50, Done: 100, Latency: 5 * time.Minute}
	if line := s.line(40 * time.Second); !strings.Contains(line, "20s left") || !strings.Contains(line, "searchable in 1m0s") {
		t.Errorf("shown: %s", line)
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 850 * time.Nanosecond: "1µs", 1234 * time.Microsecond: "1ms", 1249 * time.Millisecond: "1.2s",
		250*time.Second + 400*time.Millisecond: "4m10s", 125 * time.Minute: "2h5m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %s, want %s", d, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 20: "5.0 MiB", 3 << 40: "3.0 TiB", 1 << 62: "4.0 EiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %s, want %s", n, got, want)
		}
	}
}

// Closing the place where progress is shown does not stop the work.
func TestWriterFails(t *testing.T) {
	closed, err := os.Create(t.TempDir() + "/closed")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(*testing.T) {
		r := Start(closed, func() State { return State{} }, Options{})
		time.Sleep(time.Minute)
		r.Stop()
	})
}

// A log of work that waits is not filled with the same line.
func TestUnchangedLines(t *testing.T) {
	var out bytes.Buffer
	synctest.Test(t, func(*testing.T) {
		begun := time.Now()
		r := StartLine(&out, func(time.Duration) string {
			return fmt.Sprintf("hour %d, ü", int(time.Since(begun).Hours()))
		}, Options{})
		time.Sleep(2*time.Hour + time.Minute)
		r.Stop()
	})
	if want := "hour 0, ü\nhour 1, ü\nhour 2, ü\n"; out.String() != want {
		t.Errorf("shown: %q, want %q", out.String(), want)
	}
}

// A character counts as one column, and is not cut in two.
func TestCut(t *testing.T) {
	for _, tt := range []struct {
		width      int
		line, want string
	}{
		{3, "füße", "füß"}, {4, "füße", "füße"}, {0, "füße", ""}, {-1, "füße", "füße"},
	} {
		if got := cut(tt.line, tt.width); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.line, tt.width, got, tt.want)
		}
	}
}
