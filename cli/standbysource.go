package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web/live"
	"github.com/webindexer/indexer/web/remote"
)

// errNotHeld says that no process holds the data directory at the moment.
var errNotHeld = fmt.Errorf("%w: the data directory is being handed over", live.ErrUnknown)

// standbySource is a live.Source for the pipeline of whichever process has the directory.
// During a handover it does not wait, but returns live.ErrUnknown.
type standbySource struct {
	st *standby

	mu    sync.Mutex
	last  repository.Sample
	found []observers.Found // the newest, ascending, from one process after another
}

// use calls do with the current place.
func (s *standbySource) use(do func(*place) error) error {
	p, _ := s.st.enter()
	if p == nil {
		return errNotHeld
	}
	defer p.users.Done()
	return do(p)
}

// Sample returns the last sample, marked as unknown, while no process holds the directory.
func (s *standbySource) Sample() repository.Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.use(func(p *place) error {
		s.last = p.source.Sample()
		var since time.Time
		if n := len(s.found); n > 0 {
			since = s.found[n-1].At
		}
		s.found = append(s.found, p.source.Found(since)...)
		s.found = slices.Clone(s.found[max(len(s.found)-remote.MaxFound, 0):])
		return s.last.NotReady
	})
	if errors.Is(err, live.ErrUnknown) {
		s.st.nudge()
	}
	p := s.last
	p.Time, p.NotReady = time.Now(), err
	return p
}

func (s *standbySource) FoundSince(t time.Time) observers.Latency {
	s.mu.Lock()
	defer s.mu.Unlock()
	return observers.LatencySince(s.found, t)
}

func (s *standbySource) Space() (space repository.Space, err error) {
	err = s.use(func(p *place) (err error) {
		space, err = p.source.Space()
		return err
	})
	return space, err
}

// scanPlace asks the current place for something that costs a scan.
func scanPlace[T any](ctx context.Context, s *standbySource, ask func(context.Context, remote.Source) (T, error)) (answer T, err error) {
	err = s.use(func(p *place) (err error) {
		ctx, end := p.bound(ctx)
		defer end()
		answer, err = ask(ctx, p.source)
		return err
	})
	return answer, err
}

func (s *standbySource) DeadCount(ctx context.Context) (map[string]int, error) {
	return scanPlace(ctx, s, func(ctx context.Context, from remote.Source) (map[string]int, error) { return from.DeadCount(ctx) })
}

func (s *standbySource) Waiting(ctx context.Context) (map[string]int, error) {
	return scanPlace(ctx, s, func(ctx context.Context, from remote.Source) (map[string]int, error) { return from.Waiting(ctx) })
}

func (s *standbySource) Frontier(ctx context.Context, hosts int) (*live.Frontier, error) {
	return scanPlace(ctx, s, func(ctx context.Context, from remote.Source) (*live.Frontier, error) {
		return from.Frontier(ctx, hosts)
	})
}
