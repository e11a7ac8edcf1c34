package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/web"
	"github.com/webindexer/indexer/web/remote"
)

// place is where a server currently gets details from: its own open repository, or the
// process that has it.
type place struct {
	inspect   web.Inspector
	source    remote.Source
	elsewhere bool

	ctx   context.Context // ends when requests have to stop using the place
	close context.CancelFunc
	users sync.WaitGroup // requests in progress; they join only while the place is current
}

func newPlace(inspect web.Inspector, source remote.Source, elsewhere bool) *place {
	p := &place{inspect: inspect, source: source, elsewhere: elsewhere}
	p.ctx, p.close = context.WithCancel(context.Background())
	return p
}

// place returns the place of the repository of a session.
func (s *session) place() *place {
	return newPlace(web.Local{Repo: s.repo}, liveSource{s.repo, s}, false)
}

// beside returns the place of the process that holds the directory, whichever it is.
func (st *standby) beside() *place {
	p := newPlace(remote.Inspector{Ask: st.app.askRemote("web")}, nil, true)
	ctx, cancel := context.WithCancel(st.ctx)
	context.AfterFunc(p.ctx, cancel)
	p.source = remote.NewPipeline(ctx, st.app.askRemote("live"))
	return p
}

// move makes a place current (nil for none) and waits until all requests have left the
// previous one. Requests in progress have the time grace to end; then they are cancelled
// and asked again.
func (st *standby) move(to *place, grace time.Duration) {
	st.mu.Lock()
	from := st.place
	st.place = to
	close(st.changed)
	st.changed = make(chan struct{})
	st.mu.Unlock()
	if from == nil {
		return
	}
	late := time.AfterFunc(grace, from.close)
	from.users.Wait()
	late.Stop()
	from.close()
}

// enter returns the current place, nil if there is none, and a channel that is closed when
// it changes. The caller calls users.Done to leave the place.
func (st *standby) enter() (p *place, changed <-chan struct{}) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.place != nil {
		st.place.users.Add(1)
	}
	return st.place, st.changed
}

// The bounds of a request while the directory changes hands.
const (
	placeWait  = 5 * time.Second        // until some process holds it
	againAfter = 100 * time.Millisecond // because a process may start to answer without a move here
)

// ask asks the current place, and the next one if that has gone meanwhile. Questions change
// nothing, so they may be asked twice.
func (st *standby) ask(ctx context.Context, question func(context.Context, web.Inspector) error) error {
	timeout := time.NewTimer(placeWait)
	defer timeout.Stop()
	for {
		p, changed := st.enter()
		err := errBetween
		if p != nil {
			err = p.do(ctx, question)
			if !p.isGone(err) || ctx.Err() != nil {
				return err
			}
			if st.isTroubled() {
				return fmt.Errorf("%w: %w", web.ErrNotOpen, err)
			}
			st.nudge()
		}
		select {
		case <-changed:
		case <-time.After(againAfter):
		case <-timeout.C:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// do asks a question that ends with the request, or when requests have to leave the place.
func (p *place) do(ctx context.Context, question func(context.Context, web.Inspector) error) error {
	defer p.users.Done()
	ctx, end := p.bound(ctx)
	defer end()
	return question(ctx, p.inspect)
}

// bound returns the context of a request, which also ends when requests have to leave.
func (p *place) bound(ctx context.Context) (bounded context.Context, end func()) {
	bounded, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.ctx, cancel)
	return bounded, func() {
		stop()
		cancel()
	}
}

// isGone reports whether the end of the place may be the only cause of an error.
func (p *place) isGone(err error) bool {
	switch {
	case err == nil:
		return false
	case p.ctx.Err() != nil:
		return true
	case errors.Is(err, oracle.ErrLapsed): // until it shows signs of life again, or rejoins
		return true
	}
	return p.elsewhere && (errors.Is(err, control.ErrNobody) || errors.Is(err, control.ErrCutOff) || errors.Is(err, remote.ErrReleased))
}

func (st *standby) isTroubled() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.trouble != nil
}
