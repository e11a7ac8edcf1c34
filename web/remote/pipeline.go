package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web/live"
)

// liveRequest asks the process that holds the data directory about its pipeline. A server
// sends it once a second.
type liveRequest struct {
	Since time.Time `json:"since"` // report pages that became searchable after it
	Slow  bool      `json:"slow"`  // also report what costs a scan
}

// liveReport answers a liveRequest.
type liveReport struct {
	Sample   repository.Sample `json:"pulse"` // without NotReady
	NotReady string            `json:"not_ready,omitempty"`
	Paused   bool              `json:"paused,omitempty"` // the reason is that the pipeline is paused
	Found    []observers.Found `json:"found,omitempty"`

	Space    *repository.Space `json:"space,omitempty"`
	Dead     map[string]int    `json:"dead,omitempty"`
	Frontier *live.Frontier    `json:"frontier,omitempty"`
	// NoFrontier says why the frontier could not be read.
	NoFrontier string `json:"no_frontier,omitempty"`
}

// AnswerPipeline answers the Pipeline of a server in another process.
func AnswerPipeline(ctx context.Context, from Source, argument string, w io.Writer) error {
	var q liveRequest
	if json.Unmarshal([]byte(argument), &q) != nil {
		return ErrRequest
	}
	r := liveReport{Sample: from.Sample(), Found: from.Found(q.Since)}
	if err := r.Sample.NotReady; err != nil {
		r.NotReady, r.Paused, r.Sample.NotReady = err.Error(), errors.Is(err, notify.ErrPaused), nil
	}
	if q.Slow {
		space, err := from.Space()
		if err != nil {
			return err
		}
		r.Space = &space
		if r.Dead, err = from.DeadCount(ctx); err != nil {
			return err
		}
		bounded, cancel := context.WithTimeout(ctx, scanTime)
		defer cancel()
		if r.Frontier, err = from.Frontier(bounded, live.TopHosts); err != nil {
			r.NoFrontier = err.Error() // a long queue does not keep the rest from the server
		}
	}
	return encode(w, &r)
}

// Source is what a server shows of a pipeline.
type Source interface {
	live.Source
	// Found lists the pages that became searchable after a time, ascending.
	Found(since time.Time) []observers.Found
}

// Pipeline is the Source of a server for the pipeline of another process. It requests each
// sample from that process, which answers with AnswerPipeline, and remembers the last
// answer.
type Pipeline struct {
	ask Ask
	ctx context.Context // of the server

	asking sync.Mutex // held while a sample is requested

	mu    sync.Mutex
	last  repository.Sample // the newest answer
	found []observers.Found // the newest, ascending
	slow  liveReport        // the newest answer to a request with Slow
}

// NewPipeline returns a pipeline that asks until ctx ends.
func NewPipeline(ctx context.Context, ask Ask) *Pipeline { return &Pipeline{ask: ask, ctx: ctx} }

var _ Source = (*Pipeline)(nil)

// The bounds of a request. A busy process answers later; a dead one never does.
const (
	liveTime    = 2 * time.Second
	scanTime    = 3 * time.Second // in addition, to read the frontier
	maxLiveTold = 8 << 20         // bytes of an answer
)

// MaxFound is how many pages a Source remembers, as many as the other process does.
const MaxFound = 2_000

// ErrNotTold says that the process that holds the data directory does not report its
// pipeline.
var ErrNotTold = fmt.Errorf("%w: the process that has the data directory does not answer", live.ErrUnknown)

func (p *Pipeline) request(ctx context.Context, q liveRequest) (*liveReport, error) {
	limit := liveTime
	if q.Slow {
		limit += scanTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := new(liveReport)
	if err := p.ask.exchange(ctx, q, maxLiveTold, r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotTold, err)
	}
	return r, nil
}

// Sample requests a sample. If that fails, it returns the last one, marked as unknown.
func (p *Pipeline) Sample() repository.Sample {
	p.asking.Lock()
	defer p.asking.Unlock()
	p.mu.Lock()
	var since time.Time
	if n := len(p.found); n > 0 {
		since = p.found[n-1].At
	}
	p.mu.Unlock()
	r, err := p.request(p.ctx, liveRequest{Since: since})
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		last := p.last
		last.Time, last.NotReady = time.Now(), ErrNotTold
		return last
	}
	p.last = r.Sample
	switch {
	case r.Paused:
		p.last.NotReady = notify.ErrPaused
	case r.NotReady != "":
		p.last.NotReady = errors.New(r.NotReady)
	}
	p.found = append(p.found, r.Found...)
	p.found = slices.Clone(p.found[max(len(p.found)-MaxFound, 0):])
	return p.last
}

// FoundSince uses the pages that were reported.
func (p *Pipeline) FoundSince(t time.Time) observers.Latency {
	p.mu.Lock()
	defer p.mu.Unlock()
	return observers.LatencySince(p.found, t)
}

// Found lists the pages that were reported.
func (p *Pipeline) Found(since time.Time) []observers.Found {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, _ := slices.BinarySearchFunc(p.found, since, func(f observers.Found, t time.Time) int {
		if f.At.After(t) {
			return 1
		}
		return -1
	})
	return slices.Clone(p.found[first:])
}

// Space requests everything that costs a scan. DeadCount and Frontier return parts of its
// answer.
func (p *Pipeline) Space() (repository.Space, error) {
	r, err := p.request(p.ctx, liveRequest{Since: time.Now(), Slow: true})
	if err == nil && r.Space == nil {
		err = ErrNotTold
	}
	if err != nil {
		return repository.Space{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow = *r
	return *r.Space, nil
}

// DeadCount returns the answer that Space received.
func (p *Pipeline) DeadCount(context.Context) (map[string]int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slow.Space == nil {
		return nil, ErrNotTold
	}
	if p.slow.Dead == nil {
		return map[string]int{}, nil
	}
	return p.slow.Dead, nil
}

// Waiting returns nothing: the process that has the data directory runs the observers.
func (p *Pipeline) Waiting(context.Context) (map[string]int, error) { return nil, nil }

// Frontier returns the answer that Space received.
func (p *Pipeline) Frontier(context.Context, int) (*live.Frontier, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slow.NoFrontier != "" {
		return nil, fmt.Errorf("the process that has the data directory cannot read its frontier: %s", p.slow.NoFrontier)
	}
	return p.slow.Frontier, nil
}
