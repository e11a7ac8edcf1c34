package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/web"
	"github.com/webindexer/indexer/web/live"
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

// The methods of web.Inspector.

func (st *standby) Inspect(ctx context.Context, u page.URL, w inspect.Windows, at snapshot.Moment) (d *web.Details, err error) {
	err = st.ask(ctx, func(ctx context.Context, i web.Inspector) (err error) {
		d, err = i.Inspect(ctx, u, w, at)
		return err
	})
	return d, err
}

func (st *standby) Copy(ctx context.Context, u page.URL, at uint64) (f *page.Fetch, err error) {
	err = st.ask(ctx, func(ctx context.Context, i web.Inspector) (err error) {
		f, err = i.Copy(ctx, u, at)
		return err
	})
	return f, err
}

func (st *standby) Versions(ctx context.Context, u page.URL) (list []inspect.PageVersion, err error) {
	err = st.ask(ctx, func(ctx context.Context, i web.Inspector) (err error) {
		list, err = i.Versions(ctx, u)
		return err
	})
	return list, err
}

func (st *standby) Text(ctx context.Context, u page.URL, at uint64) (t *inspect.PageText, err error) {
	err = st.ask(ctx, func(ctx context.Context, i web.Inspector) (err error) {
		t, err = i.Text(ctx, u, at)
		return err
	})
	return t, err
}

func (st *standby) Picture(ctx context.Context, u page.URL, at uint64, thumbnail bool) (image []byte, err error) {
	err = st.ask(ctx, func(ctx context.Context, i web.Inspector) (err error) {
		image, err = i.Picture(ctx, u, at, thumbnail)
		return err
	})
	return image, err
}

func (st *standby) Pictured(ctx context.Context, urls []page.URL) (list []page.URL, err error) {
	err = st.ask(ctx, func(ctx context.Context, i web.Inspector) (err error) {
		list, err = i.Pictured(ctx, urls)
		return err
	})
	return list, err
}

func (st *standby) Icons(ctx context.Context, urls []page.URL) (list []inspect.SiteIcon, err error) {
	err = st.ask(ctx, func(ctx context.Context, i web.Inspector) (err error) {
		list, err = i.Icons(ctx, urls)
		return err
	})
	return list, err
}

func (st *standby) Icon(ctx context.Context, u page.URL) (image []byte, err error) {
	err = st.ask(ctx, func(ctx context.Context, i web.Inspector) (err error) {
		image, err = i.Icon(ctx, u)
		return err
	})
	return image, err
}

func (st *standby) Stats(ctx context.Context) (s *repository.Stats, err error) {
	err = st.ask(ctx, func(ctx context.Context, i web.Inspector) (err error) {
		s, err = i.Stats(ctx)
		return err
	})
	return s, err
}

// errNotHeld says that no process holds the data directory at the moment.
var errNotHeld = fmt.Errorf("%w: the data directory is being handed over", live.ErrUnknown)

// standbySource is a live.Source for the pipeline of whichever process has the directory.
// During a handover it does not wait, but returns live.ErrUnknown.
type standbySource struct {
	st *standby

	mu    sync.Mutex
	last  repository.Pulse
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

// Pulse returns the last pulse, marked as unknown, while no process holds the directory.
func (s *standbySource) Pulse() repository.Pulse {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.use(func(p *place) error {
		s.last = p.source.Pulse()
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

func (s *standbySource) DeadCount(ctx context.Context) (dead map[string]int, err error) {
	err = s.use(func(p *place) (err error) {
		ctx, end := p.bound(ctx)
		defer end()
		dead, err = p.source.DeadCount(ctx)
		return err
	})
	return dead, err
}

func (s *standbySource) Waiting(ctx context.Context) (waiting map[string]int, err error) {
	err = s.use(func(p *place) (err error) {
		ctx, end := p.bound(ctx)
		defer end()
		waiting, err = p.source.Waiting(ctx)
		return err
	})
	return waiting, err
}

func (s *standbySource) Frontier(ctx context.Context, hosts int) (f *live.Frontier, err error) {
	err = s.use(func(p *place) (err error) {
		ctx, end := p.bound(ctx)
		defer end()
		f, err = p.source.Frontier(ctx, hosts)
		return err
	})
	return f, err
}
