package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// Ask sends a request to the process that serves a data directory, passes its
// output on as it comes, and returns its exit status. When ctx ends, the request
// is given up there too. The process that was asked has patience to say a first
// sign of life, and then the next one; an answer may take as long as it likes.
// Errors: ErrNobody, ErrSilent, ErrRefused, ErrCutOff, that of ctx, or one of
// writing to stdout or stderr.
func Ask(ctx context.Context, dir string, req Request, stdout, stderr io.Writer) (status int, err error) {
	conn, err := dial(ctx, dir)
	if err != nil {
		return 0, dialError(ctx, err)
	}
	return converse(ctx, conn, req, stdout, stderr)
}

// converse asks over a connection, which it closes.
func converse(ctx context.Context, conn net.Conn, req Request, stdout, stderr io.Writer) (status int, err error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends the reading below
	defer func() {
		if stop() {
			err = errors.Join(err, ignoreClosed(conn.Close()))
		}
		if ctx.Err() != nil && err != nil {
			err = context.Cause(ctx)
		}
	}()
	req.Version = version
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return 0, fmt.Errorf("ask the process that holds the data directory: %w", err)
	}
	if err := writeJSONFrame(conn, frameRequest, req); err != nil && !isGone(err) {
		return 0, silence(conn, fmt.Errorf("ask the process that holds the data directory: %w", err))
	} // if it is gone, it may have left a refusal, which the reading finds
	status, err = receive(patientReader{conn}, stdout, stderr)
	return status, silence(conn, err)
}

// patience is how long the process that was asked may be silent. It says each
// second that it is alive; a machine that is short of processors and memory is no
// reason to give up.
const patience = 10 * time.Second

// patientReader gives whoever is at the other end patience for each part of a frame.
// While whoever asked waits for its own output to be taken, no time runs.
type patientReader struct{ conn net.Conn }

func (r patientReader) Read(p []byte) (int, error) {
	if err := r.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	return r.conn.Read(p)
}

// silence makes a SilentError of a deadline that has passed.
func silence(conn net.Conn, err error) error {
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return &SilentError{Process: peerProcess(conn)}
}

// receive passes frames on until the last.
func receive(conn io.Reader, stdout, stderr io.Writer) (status int, err error) {
	for {
		kind, payload, err := readFrame(conn)
		if err != nil {
			return 0, fmt.Errorf("%w (%w)", ErrCutOff, err)
		}
		switch kind {
		case frameOutput:
			_, err = stdout.Write(payload)
		case frameError:
			_, err = stderr.Write(payload)
		case frameAlive:
		case frameRefused:
			return 0, refused(payload)
		case frameExit:
			var x exit
			if err := json.Unmarshal(payload, &x); err != nil {
				return 0, fmt.Errorf("control: exit frame: %w", err)
			}
			return x.Status, nil
		default:
			err = fmt.Errorf("control: frame of unknown kind %q", kind)
		}
		if err != nil {
			return 0, err
		}
	}
}

func refused(payload []byte) error {
	var r refusal
	if err := json.Unmarshal(payload, &r); err != nil {
		return fmt.Errorf("%w (its reason cannot be read: %w)", ErrRefused, err)
	}
	return fmt.Errorf("%w: %s", ErrRefused, r.Reason)
}

// dialError makes ErrNobody of what a connection fails with where nobody listens.
func dialError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EAGAIN): // EAGAIN: too many wait to be heard
		return fmt.Errorf("%w (%w)", ErrNobody, err)
	}
	return fmt.Errorf("ask the process that holds the data directory: %w", err)
}

func isGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
