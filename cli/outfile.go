package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// writeFile writes the output of write to a path that the user gave.
//
// A regular or new file is replaced in one step when its content is complete: if write
// fails, or the process is killed, the old file is unchanged (see replaceFile). Symbolic
// links are followed first, so that a link stays a link. Anything else (a device, a FIFO,
// one of our own descriptors such as /dev/stdout) would become a regular file if it were
// replaced, which as root would even destroy /dev/null; it is written to directly.
func writeFile(ctx context.Context, path string, write func(io.Writer) error) error {
	t, err := findTarget(path)
	if err != nil {
		return &inputError{what: path, reason: "cannot be written: " + systemReason(err)}
	}
	write = untilDone(ctx, write)
	switch {
	case t.info != nil && t.info.IsDir():
		return &inputError{what: path, reason: "is a directory; name a file"}
	case t.isDescriptor || t.info != nil && !t.info.Mode().IsRegular():
		return writeStraight(ctx, path, t, write)
	}
	return replaceFile(path, t, write)
}

// untilDone makes every write fail after ctx has ended, so that an interrupt does not leave
// a part of the output under the name of a complete file.
func untilDone(ctx context.Context, write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		if err := write(contextWriter{ctx, w}); err != nil {
			return err
		}
		return context.Cause(ctx)
	}
}

type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.w.Write(p)
}

// target is what a path refers to after following symbolic links.
type target struct {
	path         string
	info         fs.FileInfo // nil: the file does not exist yet
	descriptor   int         // of this process, if isDescriptor
	isDescriptor bool
}

// maxLinks bounds how many symbolic links are followed, like the limit of the kernel.
const maxLinks = 40

// findTarget follows symbolic links to the last path, which need not exist: writing through
// a dangling link creates the file that the link names.
func findTarget(path string) (target, error) {
	if strings.HasSuffix(path, string(filepath.Separator)) {
		return target{}, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return target{}, err
		}
		path = filepath.Join(dir, filepath.Base(path))
		if n, ok := ownDescriptor(dir, filepath.Base(path)); ok {
			info, err := os.Stat(path)
			return target{path: path, info: info, descriptor: n, isDescriptor: true}, err
		}
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return target{path: path}, nil
		case err != nil:
			return target{}, err
		case info.Mode()&fs.ModeSymlink == 0:
			return target{path: path, info: info}, nil
		}
		next, err := os.Readlink(path)
		if err != nil {
			return target{}, err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(dir, next)
		}
		path = next
	}
	return target{}, &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
}

// ownDescriptor reports whether a path names a descriptor of this process, as /dev/stdout
// and /dev/fd/3 do on Linux. Reopening such a path would start at the beginning of a file
// that the shell has open for appending; replacing the file would leave the shell with the
// old one.
func ownDescriptor(dir, name string) (int, bool) {
	if dir != "/proc/"+strconv.Itoa(os.Getpid())+"/fd" {
		return 0, false
	}
	n, err := strconv.Atoi(name)
	return n, err == nil && n >= 0
}

// writeStraight writes to an existing target that is not replaced.
func writeStraight(ctx context.Context, path string, t target, write func(io.Writer) error) (err error) {
	f, err := openStraight(ctx, t)
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), closeOpened(f))
	}
	if err != nil {
		return &inputError{what: path, reason: "cannot be written: " + systemReason(err)}
	}
	// A FIFO whose reader has stopped would otherwise keep an interrupt waiting.
	stop := context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Now()) }) // fails where writing does not wait
	defer stop()
	buffered := bufio.NewWriterSize(f, 1<<16)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		err = context.Cause(ctx)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write to %s: %w", path, err)
	}
	return nil
}

func closeOpened(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// openStraight opens an existing target for writing. open(2) on a FIFO waits for a reader
// and cannot be interrupted, so openStraight tries repeatedly without waiting, until ctx
// ends.
func openStraight(ctx context.Context, t target) (*os.File, error) {
	if t.isDescriptor {
		return duplicate(t.descriptor, t.path)
	}
	if t.info.Mode()&fs.ModeNamedPipe == 0 {
		return os.OpenFile(t.path, os.O_WRONLY, 0)
	}
	const most = 100 * time.Millisecond
	for wait := time.Millisecond; ; wait = min(2*wait, most) {
		f, err := os.OpenFile(t.path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.ENXIO) {
			return f, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
