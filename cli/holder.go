package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/webindexer/indexer/internal/control"
)

// holding is what the holder of a data directory says about itself.
type holding struct {
	Command  string   `json:"command"` // such as "indexer serve"
	Process  int      `json:"process"`
	Releases releases `json:"releases"`
}

// releases says when a process releases the data directory.
type releases string

const (
	releasesOnRequest releases = "on request" // a server that does not crawl
	releasesSoon      releases = "soon"       // a command that only reads
	releasesWhenDone  releases = "when done"  // a command that loads
)

func (h holding) String() string { return fmt.Sprintf("`%s` (process %d)", h.Command, h.Process) }

// holding describes this process.
func (s *session) holding() holding {
	h := holding{Command: s.app.command, Process: os.Getpid(), Releases: releasesSoon}
	switch {
	case s.app.standby != nil && !s.app.standby.crawls.Load():
		h.Releases = releasesOnRequest
	case s.loads || s.app.standby != nil:
		h.Releases = releasesWhenDone
	}
	return h
}

// releaseRequest is the argument of the request "holder" from a command that needs the
// directory for itself.
type releaseRequest struct {
	For     string `json:"for"` // the command
	Process int    `json:"process"`
}

// isGone reports whether the requesting process has ended. A process on another machine or
// in another container cannot be seen and counts as gone.
func (r releaseRequest) isGone() bool {
	p, err := os.FindProcess(r.Process)
	if err != nil {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	_ = p.Release() // frees memory at most
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}

// answerHolder describes the holder of the directory and, if asked and possible, starts to
// release it.
func (s *session) answerHolder(req control.Request, stdout io.Writer) error {
	h := s.holding()
	if len(req.Args) > 0 && h.Releases == releasesOnRequest {
		var r releaseRequest
		if err := json.Unmarshal([]byte(req.Args[0]), &r); err != nil {
			return &usageError{reason: "the request to release the data directory cannot be read"}
		}
		s.app.standby.askToRelease(r)
	}
	return printJSON(stdout, h)
}

// askHolder asks the process that holds the data directory to describe itself and, if
// release is set, to release the directory. The errors are those of control.Ask.
func (a *app) askHolder(ctx context.Context, release bool) (holding, error) {
	req := control.Request{Command: "holder"}
	if release {
		arg, err := json.Marshal(releaseRequest{a.command, os.Getpid()})
		if err != nil {
			return holding{}, fmt.Errorf("ask for the data directory: %w", err)
		}
		req.Args = []string{string(arg)}
	}
	out := &control.Buffer{Most: 64 << 10}
	status, err := control.Ask(ctx, a.cfg.Data, req, out, io.Discard)
	if err != nil {
		return holding{}, err
	}
	h := holding{Command: "indexer", Releases: releasesWhenDone} // of a version that does not know the request
	if status != statusDone {
		return h, nil
	}
	if err := json.Unmarshal(out.Bytes(), &h); err != nil {
		return h, fmt.Errorf("the answer of the process that has the data directory cannot be read: %w", err)
	}
	return h, nil
}
