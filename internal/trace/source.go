package trace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Source holds what journeys are reconstructed from. Log may be nil.
type Source struct {
	DB    *txn.DB
	Log   *Log
	Clock *Clock
}

// The maximum numbers of steps until the page became searchable, and of steps after that,
// the last of which are kept.
const (
	maxSteps = 300
	maxLater = 20
)

// Journey reconstructs the journey of the fetch in force of a URL. An unknown URL is not
// an error.
func (s *Source) Journey(ctx context.Context, u page.URL) (*Journey, error) {
	e, err := s.gather(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", u, err)
	}
	j := &Journey{URL: u, State: StateUnknown, Fetch: e.fetch, Waiting: e.waiting, Steps: []Step{}}
	if e.loaded == 0 {
		return j, nil
	}
	b := &builder{source: s, stored: e, journey: j}
	b.readLog(schema.URLRow(u))
	b.addSteps()
	b.findSearchable()
	b.shorten()
	return j, nil
}

// moment returns a timestamp with its time by the Clock.
func (s *Source) moment(ts uint64) Moment {
	m := Moment{TS: ts}
	if at, within, ok := s.Clock.At(ts); ok {
		m.At, m.WithinMS = &at, milliseconds(within)
	}
	return m
}

// exact returns a moment whose time was recorded.
func exact(ts uint64, wall int64) Moment {
	at := time.Unix(0, wall)
	return Moment{TS: ts, At: &at}
}

// milliseconds has microsecond precision.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// builder makes a journey from the store and the Log.
type builder struct {
	source  *Source
	stored  *stored
	journey *Journey

	attempts map[uint64][]attempt // by start timestamp
	loadedAt int64                // when the load was about to be committed; 0: not remembered
	found    *record
}

// attempt is an attempt on one of the rows, from the Log.
type attempt struct {
	record
	on string
}

// readLog reads the Log. A load is recorded just before its commit, without a timestamp,
// so the last one recorded is taken to be the load of the fetch in force.
func (b *builder) readLog(urlRow string) {
	b.attempts = make(map[uint64][]attempt)
	for _, r := range b.source.Log.of(urlRow) {
		switch r.kind {
		case loaded:
			b.loadedAt, b.found = r.began, nil
		case found:
			b.found = &r
		case attempted:
			b.attempts[r.start] = append(b.attempts[r.start], attempt{r, "page"})
		}
	}
	if b.loadedAt == 0 && b.found != nil {
		b.loadedAt = b.found.began
	}
	if b.stored.cluster == "" {
		return
	}
	for _, r := range b.source.Log.of(b.stored.cluster) {
		b.attempts[r.start] = append(b.attempts[r.start], attempt{r, "cluster"})
	}
}

// addSteps adds all steps since the load, in the order of their timestamps.
func (b *builder) addSteps() {
	e, j := b.stored, b.journey
	for _, x := range e.txns {
		if x.commit >= e.loaded || x.commit == 0 && x.start > e.loaded {
			if x.commit > 0 || x.observer != "" { // data without a commit is from a transaction that did not commit
				j.Steps = append(j.Steps, b.stepOf(x))
			}
		}
	}
	for start, list := range b.attempts {
		if start <= e.loaded && start != 0 || e.txns[start] != nil && e.txns[start].commit > 0 {
			continue
		}
		for _, a := range list {
			if a.began >= b.loadedAt {
				j.Steps = append(j.Steps, stepOfAttempt(a))
			}
		}
	}
	slices.SortStableFunc(j.Steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(max(a.Start, a.Commit), max(b.Start, b.Commit)), cmp.Compare(a.Observer, b.Observer))
	})
	b.setTimes()
}

// stepOf makes a step from a stored transaction and its record in the Log.
func (b *builder) stepOf(x *transaction) Step {
	s := Step{What: StepRun, Observer: x.name(), On: x.on, Start: x.start, Commit: x.commit, Wrote: x.wrote}
	switch {
	case x.load:
		s.What, s.On = StepLoad, ""
	case x.fetched && x.observer == "":
		s.What, s.On = StepAgain, ""
	}
	slices.SortFunc(s.Wrote, func(a, b Write) int { return cmp.Compare(a.Column, b.Column) })
	if list := b.attempts[x.start]; len(list) > 0 {
		s.addAttempt(list[0])
		return s
	}
	if x.load && x.commit == b.stored.loaded && b.loadedAt != 0 {
		s.Ended = exact(x.commit, b.loadedAt)
		return s
	}
	s.Ended = b.source.moment(max(x.commit, x.start))
	return s
}

func stepOfAttempt(a attempt) Step {
	s := Step{What: StepRun, Start: a.start, Commit: a.commit}
	s.addAttempt(a)
	return s
}

func (s *Step) addAttempt(a attempt) {
	s.Observer, s.On, s.Batch = a.observer, a.on, int(a.batch)
	waited, took := milliseconds(a.waited), milliseconds(time.Duration(a.end-a.began))
	s.WaitedMS, s.TookMS = &waited, &took
	s.Commit = max(s.Commit, a.commit)
	s.Ended = exact(max(s.Commit, s.Start), a.end)
	switch {
	case a.err == "":
	case a.conflict:
		s.What, s.Error = StepConflict, a.err
	default:
		s.What, s.Error = StepFailure, a.err
	}
}

// setTimes sets the time since the load for each step.
func (b *builder) setTimes() {
	j := b.journey
	loaded := b.source.moment(b.stored.loaded)
	if b.loadedAt != 0 {
		loaded = exact(b.stored.loaded, b.loadedAt)
	}
	j.Loaded, j.Recorded = &loaded, b.loadedAt != 0
	for i := range j.Steps {
		s := &j.Steps[i]
		if loaded.At != nil && s.Ended.At != nil {
			since := milliseconds(max(s.Ended.At.Sub(*loaded.At), 0))
			s.SinceLoadMS = &since
		}
	}
}
