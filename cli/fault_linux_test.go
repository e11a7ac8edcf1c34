package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestDiskFilledAtOnce: another process fills the disk while a replay is loading. Whichever
// write fails first, in any part and in any way, the replay ends with status 3 and the usual
// message; once there is room, it continues.
func TestDiskFilledAtOnce(t *testing.T) {
	mounted := smallDisk(t)
	rnd := testenv.Random(t)
	data, filler := filepath.Join(mounted, "data"), filepath.Join(mounted, "filler")
	for range 3 {
		after := 5 + rnd.IntN(60)
		status, said := replayOnto(t, data, 2000, func(page int) {
			if page == after {
				fillAtOnce(t, filler)
			}
		})
		if status != statusNoSpace || !strings.Contains(said, "free some space") || strings.Contains(said, "goroutine ") {
			t.Errorf("filled after %d pages: status %d\n%s", after, status, said)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("indexer", "--data", data, "check").CombinedOutput()
	if err != nil {
		t.Errorf("with room again: %v\n%s", err, out)
	}
}

// TestServerWithoutRoom: the disk of the index files is full, and the observers of a server stop. It
// says so, and releases the directory: with room again the next command does the work.
func TestServerWithoutRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a disk, and starts a server")
	}
	data := filepath.Join(t.TempDir(), "data")
	files := filepath.Join(data, "index")
	if err := os.MkdirAll(files, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", files, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(files, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if status, said := replayOnto(t, data, 60, func(int) {}); status != statusNoSpace {
		t.Fatalf("replay: status %d\n%s", status, said)
	}
	server := exec.CommandContext(t.Context(), "indexer", "--data", data, "serve", "--listen", "127.0.0.1:0")
	stderr, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "the observers have stopped") {
	}
	if err := syscall.Mount("", files, "", syscall.MS_REMOUNT, "size=400m"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("indexer", "--data", data, "wait").CombinedOutput(); err != nil {
		t.Errorf("wait, with room again: %v\n%s", err, out)
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
	}
	if err := server.Wait(); err != nil {
		t.Errorf("the server: %v", err)
	}
}

// TestServeWithoutWriting: a server that starts where nothing can be written searches the index
// files, and takes the data directory when it can write.
func TestServeWithoutWriting(t *testing.T) {
	t.Run("full disk", func(t *testing.T) {
		mounted := smallDisk(t)
		filler := filepath.Join(mounted, "filler")
		serveWithoutWriting(t, mounted, func() { fillAtOnce(t, filler) }, func() error { return os.Remove(filler) })
	})
	t.Run("read-only file system", func(t *testing.T) {
		mounted := smallDisk(t)
		remount := func(flags uintptr) error { return syscall.Mount("", mounted, "", syscall.MS_REMOUNT|flags, "") }
		prevent := func() {
			if err := remount(syscall.MS_RDONLY); err != nil {
				t.Fatal(err)
			}
		}
		serveWithoutWriting(t, mounted, prevent, func() error { return remount(0) })
	})
}

func serveWithoutWriting(t *testing.T, mounted string, prevent func(), permit func() error) {
	t.Helper()
	data := filepath.Join(mounted, "data")
	lighthouse, _ := warcs(t)
	mustRun(t, "--data", data, "replay", lighthouse)
	prevent()
	server, s := serveChild(t, "", data)
	server.Until("cannot be opened")
	if body := s.get("/?q=lamp"); !strings.Contains(body, "The data directory cannot be opened") || !strings.Contains(body, "skerryrock.example") {
		t.Errorf("a search:\n%s", body)
	}
	if err := permit(); err != nil {
		t.Fatal(err)
	}
	server.Until("this server has taken it back")
	if body := s.get("/doc?url=https://skerryrock.example/lamp"); strings.Contains(body, "cannot be opened") {
		t.Errorf("the page still says that the directory cannot be opened:\n%s", body)
	}
	server.Signal(syscall.SIGTERM)
	if status := server.ends(); status != statusDone {
		t.Errorf("exit status %d: %s", status, server.Said())
	}
}

// smallDisk returns a directory on a disk of its own. It skips the test where none can be mounted,
// and in short mode.
func smallDisk(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("fills a disk of 420 MB")
	}
	mounted := t.TempDir()
	if err := syscall.Mount("tmpfs", mounted, "tmpfs", 0, "size=420m"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(mounted, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return mounted
}

// replayOnto pipes pages into a replay until it ends, or has them all.
func replayOnto(t *testing.T, data string, pages int, before func(page int)) (status int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "indexer", "--data", data, "replay", "-")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // says where it hangs
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for page := range pages {
		before(page)
		if _, err := io.WriteString(in, largeRecord(rnd, page)); err != nil {
			break // it has ended
		}
	}
	_ = in.Close() // as above
	_ = cmd.Wait() // the status says it
	return cmd.ProcessState.ExitCode(), stderr.String()
}

// largeRecord is a page of 100 kB that hardly compresses, as WARC has it.
func largeRecord(rnd *rand.Rand, page int) string {
	var body strings.Builder
	fmt.Fprintf(&body, "<title>Page %d</title><p>", page)
	for body.Len() < 100_000 {
		fmt.Fprintf(&body, "%x ", rnd.Uint64())
	}
	http := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", body.Len(), body.String())
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\nWARC-Target-URI: https://large.example/%d\r\nWARC-Date: 2024-03-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", page, page, len(http), http)
}

// fillAtOnce takes all that is free where file is.
func fillAtOnce(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size, step := int64(0), int64(64<<20); step >= 4096; {
		if err := unix.Fallocate(int(f.Fd()), 0, size, step); err != nil {
			step /= 2
			continue
		}
		size += step
	}
}
