//go:build unix

package osfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// errInterrupted is the cause of a context that ends.
var errInterrupted = errors.New("interrupted")

func says(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// What is written is where the name leads, and whatever was there stays what it was: a
// link a link, a private file private. Each case begins with old, 0640, in the directory
// real, which linked leads to.
func TestWrite(t *testing.T) {
	for name, tt := range map[string]struct {
		link   [2]string // name and target of a further link
		write  string
		target string // which file then has the content
		mode   fs.FileMode
	}{
		"new":                       {write: "new", target: "new", mode: 0o640}, // 0666 less the umask of this test
		"old":                       {write: "real/old", target: "real/old", mode: 0o600},
		"through a directory":       {write: "linked/old", target: "real/old", mode: 0o600},
		"link":                      {link: [2]string{"link", "real/old"}, write: "link", target: "real/old", mode: 0o600},
		"link in another directory": {link: [2]string{"real/link", "old"}, write: "linked/link", target: "real/old", mode: 0o600},
		"link upwards":              {link: [2]string{"real/link", "../linked/old"}, write: "linked/link", target: "real/old", mode: 0o600},
		"dangling link":             {link: [2]string{"link", "real/none"}, write: "link", target: "real/none", mode: 0o640},
	} {
		t.Run(name, func(t *testing.T) {
			before := syscall.Umask(0o026)
			defer syscall.Umask(before)
			dir := t.TempDir()
			must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
			must(t, os.Symlink("real", filepath.Join(dir, "linked")))
			must(t, os.WriteFile(filepath.Join(dir, "real/old"), []byte("old"), 0o600))
			if tt.link[0] != "" {
				must(t, os.Symlink(tt.link[1], filepath.Join(dir, tt.link[0])))
			}
			must(t, Write(t.Context(), filepath.Join(dir, tt.write), says("content")))
			got, err := os.ReadFile(filepath.Join(dir, tt.target))
			if err != nil || string(got) != "content" {
				t.Errorf("%s holds %q, %v", tt.target, got, err)
			}
			if info, err := os.Lstat(filepath.Join(dir, tt.target)); err != nil || info.Mode() != tt.mode {
				t.Errorf("its mode is %v, %v", info.Mode(), err)
			}
			for _, link := range []string{"linked", tt.link[0]} {
				if info, err := os.Lstat(filepath.Join(dir, link)); link != "" && (err != nil || info.Mode()&fs.ModeSymlink == 0) {
					t.Errorf("%s is no link any more: %v", link, err)
				}
			}
			noParts(t, dir)
			noParts(t, filepath.Join(dir, "real"))
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// noParts: no unfinished file is left.
func noParts(t *testing.T, dir string) {
	t.Helper()
	if left, err := filepath.Glob(filepath.Join(dir, ".indexer-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, nil, 0o640))
	must(t, os.Chmod(path, 0o640)) // commands run by earlier tests have set the umask
	must(t, os.Chown(path, 12345, 54321))
	must(t, Write(t.Context(), path, says("content")))
	info, err := os.Stat(path)
	must(t, err)
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 54321 || info.Mode() != 0o640 {
		t.Errorf("owner %d, group %d, mode %v", st.Uid, st.Gid, info.Mode())
	}
}

// What is not a regular file is written to and stays what it is.
func TestWriteStraight(t *testing.T) {
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	must(t, syscall.Mkfifo(fifo, 0o600))
	must(t, os.Symlink(fifo, link))
	read := make(chan string)
	go func() {
		got, err := os.ReadFile(fifo)
		if err != nil {
			got = []byte(err.Error())
		}
		read <- string(got)
	}()
	content := strings.Repeat("content ", 1<<17) // more than a pipe holds
	must(t, Write(t.Context(), link, says(content)))
	if got := <-read; got != content {
		t.Errorf("the reader got %d bytes of %d", len(got), len(content))
	}
	must(t, Write(t.Context(), os.DevNull, says("content")))
	for path, want := range map[string]fs.FileMode{fifo: fs.ModeNamedPipe, link: fs.ModeSymlink, os.DevNull: fs.ModeDevice | fs.ModeCharDevice} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Type() != want {
			t.Errorf("%s is %v now, %v", path, info.Mode(), err)
		}
	}
	if err := Write(t.Context(), "/dev/full", says("content")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full device: %v", err)
	}
	if err := Write(t.Context(), dir, says("content")); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
	loop := filepath.Join(dir, "loop")
	must(t, os.Symlink(loop, loop))
	if err := Write(t.Context(), loop, says("content")); err == nil || !strings.Contains(err.Error(), "too many levels") {
		t.Errorf("a loop of links: %v", err)
	}
}

// An interrupt, or a failure, leaves the old file, and no unfinished one next to it. It
// also ends waiting for the reader of a FIFO, even if that has stopped reading.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	broken := errors.New("broken")
	err := Write(t.Context(), path, func(w io.Writer) error { return errors.Join(says("half")(w), broken) })
	if !errors.Is(err, broken) {
		t.Errorf("a failure: %v", err)
	}
	for name, write := range map[string]func(context.CancelCauseFunc) func(io.Writer) error{
		"before the last write": func(cancel context.CancelCauseFunc) func(io.Writer) error {
			return func(w io.Writer) error { cancel(errInterrupted); return says("half")(w) }
		},
		"after the last write": func(cancel context.CancelCauseFunc) func(io.Writer) error {
			return func(w io.Writer) error { err := says("all")(w); cancel(errInterrupted); return err }
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if err := Write(ctx, path, write(cancel)); !errors.Is(err, errInterrupted) {
			t.Errorf("interrupted %s: %v", name, err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	noParts(t, dir)

	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() { ended <- Write(ctx, fifo, says("content")) }()
	cancel(errInterrupted)
	if err := <-ended; !errors.Is(err, errInterrupted) {
		t.Errorf("interrupted before anybody read: %v", err)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	go func() { ended <- Write(ctx, fifo, says(strings.Repeat("x", 1<<20))) }()
	reader, err := os.Open(fifo)
	must(t, err)
	defer func() { _ = reader.Close() }()
	if _, err := reader.Read(make([]byte, 1)); err != nil { // writing has begun
		t.Fatal(err)
	}
	cancel(errInterrupted)
	if err := <-ended; !errors.Is(err, errInterrupted) {
		t.Errorf("interrupted while nobody read: %v", err)
	}
}

// Unfinished files of processes that are gone are removed; those that are being written,
// and whatever else has a name like theirs, stay.
func TestAbandonedFiles(t *testing.T) {
	dir := t.TempDir()
	name := func(c string) string { return filepath.Join(dir, ".indexer-"+strings.Repeat(c, 32)+".part") }
	must(t, os.WriteFile(name("a"), []byte("of a killed process"), 0o600))
	must(t, os.Mkdir(name("b"), 0o700))
	must(t, os.Symlink(name("b"), name("c")))
	must(t, os.WriteFile(filepath.Join(dir, ".indexer-notes.part"), nil, 0o600))
	underWay, err := createPart(dir, nil)
	must(t, err)
	must(t, Write(t.Context(), filepath.Join(dir, "file"), says("content")))
	var left []string
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		left = append(left, filepath.Join(dir, e.Name()))
	}
	want := []string{name("b"), name("c"), filepath.Join(dir, ".indexer-notes.part"), underWay.Name(), filepath.Join(dir, "file")}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left: %v\nwant: %v", left, want)
	}
	must(t, underWay.Close())
}

// A file that its owner has made read-only is not replaced, though the directory would
// allow it.
func TestReadOnlyFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write to every file")
	}
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte("old"), 0o400))
	if err := Write(t.Context(), path, says("new")); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("got %v", err)
	}
}
