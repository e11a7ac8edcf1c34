package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/web"
	"github.com/webindexer/indexer/web/remote"
)

// question is a command that a process with an open repository can run for itself or for
// another process.
type question func(ctx context.Context, r *repository.Repository, req control.Request, stdout, stderr io.Writer) error

// questions are the commands that other processes can request.
var questions = map[string]question{
	"inspect": inspectURL,
	"trace":   traceJourney,
	"stats":   stats,
	"status":  status,
	"export":  exportTable,
	"verify":  verifyRepository,
	"rank":    ranks,
	"scan":    scan,
	"wait":    waitQuiet,
	"check":   checkStore,
	"reindex": reindex,
	"gc":      gc,
	"dead":    dead,
	"web":     answerWeb,
	"again":   answerAgain,
}

const (
	// askFor is how long ask tries to open the data directory or to reach the process that
	// holds it. A process that is starting or stopping does not answer; on a busy machine it
	// may take long to write out what it has in memory.
	askFor = 20 * time.Second
	// askQuietly is how long ask tries before it says what it waits for.
	askQuietly = 2 * time.Second
)

// ask runs a question in this process if the data directory is free, and otherwise in the
// process that holds it.
func (a *app) ask(ctx context.Context, req control.Request, stdout io.Writer) error {
	tries, quiet := time.NewTimer(askFor), time.NewTimer(askQuietly)
	defer tries.Stop()
	defer quiet.Stop()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		done, err := a.tryToAsk(ctx, req, stdout)
		if done {
			return err
		}
		switch {
		case errors.Is(err, remote.ErrReleased): // there will be another holder soon
			tries.Reset(askFor)
			wait = 10 * time.Millisecond
		case errors.Is(err, control.ErrBusy): // it works, and answers in turn
			tries.Reset(askFor)
		}
		select {
		case <-time.After(wait):
		case <-quiet.C:
			why := "it does not answer, and may be starting or stopping"
			if errors.Is(err, control.ErrBusy) {
				why = "it is answering as many others as it does at a time"
			}
			_, _ = fmt.Fprintln(a.stderr, "waiting for the process that has the data directory: "+why)
		case <-tries.C:
			return fmt.Errorf("%w: %w", errNotAsked, err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tryToAsk reports done as false if the directory is held by a process that does not answer
// now, or is busy, or that released the directory before it had answered anything.
func (a *app) tryToAsk(ctx context.Context, req control.Request, stdout io.Writer) (done bool, err error) {
	if a.isShared() {
		// A worker that uses the same data directory may keep the index files.
		if done, err := a.askThere(ctx, req, stdout); !errors.Is(err, control.ErrNobody) {
			return done, err
		}
	} else {
		a.yieldToLoader(ctx)
	}
	s, err := a.open(ctx, false)
	switch {
	case err == nil:
		return true, s.askHere(ctx, req, stdout)
	case a.isShared() || !errors.Is(err, store.ErrInUse):
		return true, err
	}
	inUse := err
	if done, err = a.askThere(ctx, req, stdout); errors.Is(err, control.ErrNobody) {
		err = inUse
	}
	return done, err
}

// askThere runs a question in the process that holds the data directory. Its results are those
// of tryToAsk; if there is no such process, or it works on another store, the error is control.ErrNobody.
func (a *app) askThere(ctx context.Context, req control.Request, stdout io.Writer) (done bool, err error) {
	printed := &countingWriter{w: stdout}
	status, err := control.Ask(ctx, a.cfg.Data, req, printed, a.stderr)
	switch {
	case err == nil && status == statusOtherStore:
		return false, control.ErrNobody
	case err == nil && status == statusAskAgain:
		return printed.n > 0, remote.ErrReleased
	case errors.Is(err, control.ErrCutOff) && printed.n == 0: // it stopped before it took the question
		return false, remote.ErrReleased
	case errors.Is(err, control.ErrNobody), errors.Is(err, control.ErrBusy):
		return false, err
	case errors.Is(err, fs.ErrPermission): // the socket of another user
		err = fmt.Errorf("%w: %w", errNotAsked, denied(err))
	case err == nil && status != statusDone:
		err = statusError(status)
	}
	return true, err
}

// askHere runs a question in this process and closes the session. It waits for a shared store.
func (s *session) askHere(ctx context.Context, req control.Request, stdout io.Writer) error {
	return errors.Join(questions[req.Command](patiently(ctx, s.app.stderr), s.repo, req, stdout, s.app.stderr), s.close(ctx))
}

// countingWriter counts the bytes written.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// request returns a request for output in the format of the settings.
func (a *app) request(command string, args ...string) control.Request {
	return control.Request{Command: command, Args: args, Format: a.cfg.Format, Store: a.database()}
}

// askRemote returns how a server asks the process that holds the data directory.
func (a *app) askRemote(command string) remote.Ask {
	return func(ctx context.Context, argument string, out, said io.Writer) (done bool, err error) {
		status, err := control.Ask(ctx, a.cfg.Data, a.request(command, argument), out, said)
		if err == nil && status == statusAskAgain {
			err = remote.ErrReleased
		}
		return status == statusDone, err
	}
}

// answerWeb answers the pages of a server in another process.
func answerWeb(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	return remote.AnswerInspector(ctx, web.Local{Repo: r}, onlyArgument(req), stdout)
}

// onlyArgument returns the argument of a request, or "", which no request with one argument
// has.
func onlyArgument(req control.Request) string {
	if len(req.Args) != 1 {
		return ""
	}
	return req.Args[0]
}
