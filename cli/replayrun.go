package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"indexer/loader"
	"indexer/page"
	"indexer/progress"
	"indexer/store"
	"indexer/warc"
)

// replay loads files:
//
//	files ─▶ readers ─▶ fetches ─▶ loaders ─▶ repository
//
// What is between readers and loaders is bounded in number (the channel) and in
// bytes (room). A problem in a file is noted and the file read on; an error of
// the repository ends everything.
type replay struct {
	session *session
	inputs  []*input
	fetches chan *page.Fetch
	room    *semaphore.Weighted

	loaded  atomic.Int64
	waiting atomic.Bool // all is loaded; observers finish
	done    atomic.Int64

	mu       sync.Mutex
	sum      summary
	problems []string
	unusable []error // files that could not be read
}

const (
	maxReaders = 4
	// maxBytesWaiting bounds the bodies between readers and loaders, in bytes.
	maxBytesWaiting = 64 << 20
)

func newReplay(s *session, inputs []*input) *replay {
	return &replay{
		session: s, inputs: inputs, sum: summary{Files: len(inputs), Data: s.app.cfg.Data},
		fetches: make(chan *page.Fetch, 2*s.app.cfg.Workers),
		room:    semaphore.NewWeighted(maxBytesWaiting),
	}
}

// run loads everything and waits until nothing is left to do. When ctx ends it
// reads no more, finishes the fetches that were read, and returns nil.
//
// Loading has a context that does not end with ctx, so that it is not cut short;
// it ends with the first error of the repository.
func (r *replay) run(ctx context.Context) error {
	loading, loadCtx := errgroup.WithContext(context.WithoutCancel(ctx))
	for range r.session.app.cfg.Workers {
		loading.Go(func() error { return r.loadAll(loadCtx) })
	}
	reading, stopReading := context.WithCancelCause(ctx)
	defer context.AfterFunc(loadCtx, func() { stopReading(context.Cause(loadCtx)) })()
	r.readAll(reading)
	close(r.fetches)
	err := loading.Wait()
	stopReading(nil)
	if err != nil {
		return err
	}
	r.waiting.Store(true)
	if ctx.Err() == nil {
		err = r.session.repo.Quiesce(ctx)
	}
	if ctx.Err() != nil {
		r.sum.Interrupted = true
		return nil
	}
	return err
}

// readAll reads some inputs at a time.
func (r *replay) readAll(ctx context.Context) {
	var readers errgroup.Group
	readers.SetLimit(min(maxReaders, r.session.app.cfg.Workers))
	for _, in := range r.inputs {
		if ctx.Err() != nil {
			break
		}
		readers.Go(func() error {
			err := r.read(ctx, in)
			if err != nil && ctx.Err() == nil {
				r.noteUnusable(err)
			}
			r.done.Add(1)
			return nil // other files are read all the same
		})
	}
	_ = readers.Wait() // always nil
}

// read reads one input to its end.
func (r *replay) read(ctx context.Context, in *input) (err error) {
	reader, err := in.open(ctx, warc.Options{MaxBody: int64(r.session.app.cfg.WARC.MaxBody), OnProblem: r.noteProblem})
	if err != nil {
		return &inputError{what: in.name, reason: systemReason(err)}
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for fetch, err := range reader.Fetches() {
		if err != nil {
			return &inputError{what: in.name, reason: err.Error()}
		}
		if err := r.hand(ctx, &fetch); err != nil {
			return err
		}
		in.progress(reader.Stats())
	}
	st := reader.Stats()
	in.progress(st)
	if in.records.Load() == 0 {
		return &inputError{what: in.name, reason: "holds no WARC record"}
	}
	r.noteRead(st)
	return nil
}

// hand gives a fetch to a loader, when there is room.
func (r *replay) hand(ctx context.Context, f *page.Fetch) error {
	if err := r.room.Acquire(ctx, size(f)); err != nil {
		return err
	}
	select {
	case r.fetches <- f:
		return nil
	case <-ctx.Done():
		r.room.Release(size(f))
		return context.Cause(ctx)
	}
}

func size(f *page.Fetch) int64 { return min(int64(len(f.Body)), maxBytesWaiting) }

// loadAll loads fetches until there are no more.
func (r *replay) loadAll(ctx context.Context) error {
	for f := range r.fetches {
		effect, err := r.session.repo.Load(ctx, f)
		r.room.Release(size(f))
		switch {
		case errors.Is(err, store.ErrTooLarge):
			r.note(fmt.Sprintf("%s: cannot be stored: %v", f.URL, err))
		case err != nil:
			return err
		default:
			r.noteEffect(effect)
		}
	}
	return nil
}

func (r *replay) noteEffect(e loader.Effect) {
	r.loaded.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e {
	case loader.Changed:
		r.sum.Changed++
	case loader.Renewed:
		r.sum.Renewed++
	case loader.Late:
		r.sum.Late++
	case loader.Noted:
		r.sum.Failed++
	}
}

// state is what progress shows.
func (r *replay) state() progress.State {
	live := r.session.repo.Live()
	s := progress.State{
		Pages: r.loaded.Load(), Latency: fromMS(live.FetchToSearchableMS.P50).Round(time.Microsecond),
		FilesDone: int(r.done.Load()), Of: len(r.inputs),
	}
	for _, in := range r.inputs {
		s.Records += in.records.Load()
		s.Bytes += in.bytes.Load()
		if in.size < 0 || s.Size < 0 {
			s.Size = -1
		} else {
			s.Size += in.size
		}
	}
	for _, n := range live.Backlog {
		s.Backlog += n
	}
	if r.waiting.Load() {
		s.Phase = "all is loaded, observers finish"
	}
	return s
}
