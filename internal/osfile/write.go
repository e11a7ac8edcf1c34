// Package osfile writes files that a user names without harming what is there: it replaces
// a file in one step or not at all, writes through a link, and writes to a device. It also
// has the file operations that differ between systems: locks and the umask.
package osfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Error is a path that cannot be written to.
type Error struct {
	Path, Reason string
	Err          error // nil if the reason is not an error of the system
}

func (e *Error) Error() string { return e.Path + ": " + e.Reason }

func (e *Error) Unwrap() error { return e.Err }

// notWritable says why a path cannot be written to. It keeps only the reason of the
// system's error, which may name another path, such as the target of a link, and names the directory
// if that is what is missing.
func notWritable(path string, err error) error {
	reason := err.Error()
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		reason = pe.Err.Error()
	}
	if dir := filepath.Dir(path); isMissing(dir) {
		reason = "the directory " + dir + " does not exist"
	}
	return &Error{Path: path, Reason: "cannot be written: " + reason, Err: err}
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// Write writes the output of write to a path that the user gave.
//
// A regular or new file is replaced in one step when its content is complete: if write
// fails, or the process is killed, the old file is unchanged (see replaceFile). Symbolic
// links are followed first, so that a link stays a link. Anything else (a device, a FIFO,
// one of our own descriptors such as /dev/stdout) would become a regular file if it were
// replaced, which as root would even destroy /dev/null; it is written to directly.
func Write(ctx context.Context, path string, write func(io.Writer) error) error {
	t, err := findTarget(path)
	if err != nil {
		return notWritable(path, err)
	}
	write = untilDone(ctx, write)
	switch {
	case t.info != nil && t.info.IsDir():
		return &Error{Path: path, Reason: "is a directory; name a file"}
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

// writeStraight writes to an existing target that is not replaced.
func writeStraight(ctx context.Context, path string, t target, write func(io.Writer) error) (err error) {
	f, err := openStraight(ctx, t)
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), closeOpened(f))
	}
	if err != nil {
		return notWritable(path, err)
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
