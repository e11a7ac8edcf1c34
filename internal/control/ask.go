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

// Ask sends a request to the process that serves a data directory, copies its output as
// it arrives, and returns its exit status. When ctx ends, the server also cancels the
// request. The server has to send a first heartbeat within the time silenceLimit, and then
// the next; the answer may take as long as it needs. The errors are ErrNobody, ErrSilent,
// ErrRefused, ErrCutOff, the cause of ctx, or an error of writing to stdout or stderr.
func Ask(ctx context.Context, dir string, req Request, stdout, stderr io.Writer) (status int, err error) {
	conn, err := dial(ctx, dir)
	if err != nil {
		return 0, dialError(ctx, err)
	}
	return converse(ctx, conn, req, stdout, stderr)
}

// converse sends the request on conn and closes it.
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
	if err := conn.SetDeadline(time.Now().Add(silenceLimit)); err != nil {
		return 0, sendError(err)
	}
	// If the server has closed the connection, it may have sent a refusal, which receive reads.
	if err := writeJSONFrame(conn, frameRequest, req); err != nil && !isGone(err) {
		return 0, silence(conn, sendError(err))
	}
	status, err = receive(deadlineReader{conn}, stdout, stderr)
	return status, silence(conn, err)
}

// silenceLimit is how long the server may be silent. It sends a heartbeat every second; the
// rest is for machines that are short of processors and memory.
const silenceLimit = 10 * time.Second

// deadlineReader extends the read deadline before each read. While the client waits for
// its own output to be consumed, no deadline runs.
type deadlineReader struct{ conn net.Conn }

func (r deadlineReader) Read(p []byte) (int, error) {
	if err := r.conn.SetReadDeadline(time.Now().Add(silenceLimit)); err != nil {
		return 0, err
	}
	return r.conn.Read(p)
}

// silence turns a deadline that has passed into a SilentError.
func silence(conn net.Conn, err error) error {
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return &SilentError{Process: peerProcess(conn)}
}

// receive copies frames until the last one.
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
		return fmt.Errorf("%w (the reason cannot be read: %w)", ErrRefused, err)
	}
	if r.Busy {
		return ErrBusy
	}
	return fmt.Errorf("%w: %s", ErrRefused, r.Reason)
}

// dialError turns the errors of connecting where no process listens into ErrNobody.
func dialError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EAGAIN): // EAGAIN: the backlog of the socket is full
		return fmt.Errorf("%w (%w)", ErrNobody, err)
	}
	return sendError(err)
}

func sendError(err error) error {
	return fmt.Errorf("send a request to the process that holds the data directory: %w", err)
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
