package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"indexer/internal/control"
	"indexer/notify"
	"indexer/observers"
	"indexer/repository"
	"indexer/web/live"
)

// liveRequest asks the process that holds the data directory about its pipeline. A server
// sends it once a second.
type liveRequest struct {
	Since time.Time `json:"since"` // report pages that became searchable after it
	Slow  bool      `json:"slow"`  // also report what costs a scan
}

// liveReport answers a liveRequest.
type liveReport struct {
	Pulse    repository.Pulse  `json:"pulse"` // without NotReady
	NotReady string            `json:"not_ready,omitempty"`
	Paused   bool              `json:"paused,omitempty"` // the reason is that the pipeline is paused
	Found    []observers.Found `json:"found,omitempty"`

	Space    *repository.Space `json:"space,omitempty"`
	Dead     map[string]int    `json:"dead,omitempty"`
	Frontier *live.Frontier    `json:"frontier,omitempty"`
}

// answerLive reports the pipeline of this process to a server in another process.
func (s *session) answerLive(ctx context.Context, req control.Request, stdout io.Writer) error {
	var q liveRequest
	if len(req.Args) != 1 || json.Unmarshal([]byte(req.Args[0]), &q) != nil {
		return &usageError{reason: "a server cannot ask that"}
	}
	r := liveReport{Pulse: s.repo.Pulse(), Found: s.repo.Found(q.Since)}
	if err := r.Pulse.NotReady; err != nil {
		r.NotReady, r.Paused, r.Pulse.NotReady = err.Error(), errors.Is(err, notify.ErrPaused), nil
	}
	if q.Slow {
		space, err := s.repo.Space()
		if err != nil {
			return err
		}
		r.Space = &space
		if r.Dead, err = s.repo.DeadCount(ctx); err != nil {
			return err
		}
		if r.Frontier, err = (liveSource{s.repo, s}).Frontier(ctx, live.TopHosts); err != nil {
			return err
		}
	}
	return printJSON(stdout, &r)
}
