package cli

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/loader/replay"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// replayRun is one run of the replay command. It is the sink of package replay.
type replayRun struct {
	session *session
	inputs  []*input
	counts  replay.Progress
	waiting atomic.Bool // all is loaded; observers finish

	mu       sync.Mutex
	sum      summary
	problems []string
	unusable []error // files that could not be read
	fatal    error   // of the repository
	left     left    // of an interrupted run
	unknown  error   // why the summary of an interrupted run is not complete
}

func newReplay(s *session, inputs []*input) *replayRun {
	return &replayRun{session: s, inputs: inputs, sum: summary{Files: len(inputs), Data: s.app.cfg.Data}}
}

// run loads everything and waits until all work is done. When ctx ends, it stops,
// records the remaining work, and returns nil. A fetch in progress may or may not have
// been loaded; both are correct.
func (r *replayRun) run(ctx context.Context) error {
	inputs := make([]replay.Input, len(r.inputs))
	for i, in := range r.inputs {
		inputs[i] = replay.Input{Name: in.name, Regular: in.regular, Open: func(o warc.Options) (*warc.Reader, error) { return in.open(ctx, o) }}
	}
	err := replay.Run(ctx, r, inputs, replay.Options{
		Loaders: r.session.app.cfg.Workers,
		WARC:    warc.Options{MaxBody: int64(r.session.app.cfg.WARC.MaxBody), OnProblem: r.noteProblem},
	}, &r.counts)
	switch {
	case r.fatal != nil:
		return r.fatal
	case ctx.Err() != nil && err != nil:
		r.left.unread(r.inputs, r.current(), r.counts.Bytes.Load())
		return r.interrupted()
	}
	r.noteUnusable(err)
	return r.finish(ctx)
}

// finish waits for the observers.
func (r *replayRun) finish(ctx context.Context) error {
	r.waiting.Store(true)
	err := r.session.repo.Quiesce(ctx)
	if ctx.Err() != nil && err != nil {
		return r.interrupted()
	}
	return err
}

// interrupted records the remaining work. If there is none, the replay is done.
func (r *replayRun) interrupted() error {
	ctx, cancel := r.session.countContext(true)
	defer cancel()
	waiting, err := allWaiting(ctx, r.session.repo)
	if err != nil {
		r.sum.Interrupted = true
		r.unknown = incomplete(err)
		return nil
	}
	r.sum.Backlog = waiting
	r.left.backlog(waiting)
	r.sum.Interrupted = len(r.left) > 0
	return nil
}

// current is the index of the input that is being read.
func (r *replayRun) current() int {
	return max(slices.IndexFunc(r.inputs, func(in *input) bool { return in.name == r.counts.Current() }), 0)
}

// Load loads a fetch. It remembers an error of the repository, because package replay
// joins it with the errors of files.
func (r *replayRun) Load(ctx context.Context, f *page.Fetch) (loader.Effect, error) {
	effect, err := r.session.repo.Load(ctx, f)
	if err != nil && ctx.Err() == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fatal = cmp.Or(r.fatal, err)
	}
	return effect, err
}

// Loading implements replay.Sink.
func (r *replayRun) Loading() (end func()) { return r.session.repo.Loading() }

// noteUnusable collects the unreadable files: those with an error, and those without any
// record.
func (r *replayRun) noteUnusable(err error) {
	if err != nil {
		r.unusable = append(r.unusable, err)
	}
	for _, in := range r.inputs {
		if in.isEmpty() {
			r.unusable = append(r.unusable, in.noRecord())
		}
	}
}

// state is what progress shows.
func (r *replayRun) state() progress.State {
	live := r.session.repo.Live()
	s := progress.State{
		Records: r.counts.Records.Load(), Bytes: r.counts.Bytes.Load(), Pages: r.loaded(),
		FilesDone: r.current(), Of: len(r.inputs), Size: sizeOf(r.inputs),
		Latency: fromMS(live.FetchToSearchableMS.P50).Round(time.Microsecond), Backlog: totalRows(live.Backlog), Elsewhere: r.session.repo.Elsewhere(),
	}
	for _, o := range live.Observers {
		s.Done += o.Rows
	}
	if r.waiting.Load() {
		s.Phase = "everything is loaded; observers are finishing"
	}
	return s
}

func (r *replayRun) loaded() int64 {
	return r.counts.Changed.Load() + r.counts.Renewed.Load() + r.counts.Late.Load() + r.counts.Failed.Load()
}
