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
	t := &teller{source: s, evidence: e, journey: j}
	t.remember(schema.URLRow(u))
	t.tell()
	t.findSearchable()
	t.shorten()
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

// teller makes a journey from the evidence and the Log.
type teller struct {
	source   *Source
	evidence *evidence
	journey  *Journey

	attempts map[uint64][]memory // by start timestamp
	loadedAt int64               // when the load was about to be committed; 0: not remembered
	found    *record
}

// memory is an attempt on one of the rows.
type memory struct {
	record
	on string
}

// remember reads the Log. A load is recorded just before its commit, without a timestamp,
// so the last one recorded is taken to be the load of the fetch in force.
func (t *teller) remember(urlRow string) {
	t.attempts = make(map[uint64][]memory)
	for _, r := range t.source.Log.of(urlRow) {
		switch r.kind {
		case loaded:
			t.loadedAt, t.found = r.began, nil
		case found:
			t.found = &r
		case attempted:
			t.attempts[r.start] = append(t.attempts[r.start], memory{r, "page"})
		}
	}
	if t.loadedAt == 0 && t.found != nil {
		t.loadedAt = t.found.began
	}
	if t.evidence.cluster == "" {
		return
	}
	for _, r := range t.source.Log.of(t.evidence.cluster) {
		t.attempts[r.start] = append(t.attempts[r.start], memory{r, "cluster"})
	}
}

// tell adds all steps since the load, in the order of their timestamps.
func (t *teller) tell() {
	e, j := t.evidence, t.journey
	for _, x := range e.txns {
		if x.commit >= e.loaded || x.commit == 0 && x.start > e.loaded {
			if x.commit > 0 || x.observer != "" { // data without a commit is from a transaction that did not commit
				j.Steps = append(j.Steps, t.stepOf(x))
			}
		}
	}
	for start, list := range t.attempts {
		if start <= e.loaded && start != 0 || e.txns[start] != nil && e.txns[start].commit > 0 {
			continue
		}
		for _, m := range list {
			if m.began >= t.loadedAt {
				j.Steps = append(j.Steps, t.stepOfMemory(m))
			}
		}
	}
	slices.SortStableFunc(j.Steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(max(a.Start, a.Commit), max(b.Start, b.Commit)), cmp.Compare(a.Observer, b.Observer))
	})
	t.date()
}

// stepOf makes a step from a stored transaction and its record in the Log.
func (t *teller) stepOf(x *transaction) Step {
	s := Step{What: StepRun, Observer: x.name(), On: x.on, Start: x.start, Commit: x.commit, Wrote: x.wrote}
	switch {
	case x.load:
		s.What, s.On = StepLoad, ""
	case x.fetched && x.observer == "":
		s.What, s.On = StepAgain, ""
	}
	slices.SortFunc(s.Wrote, func(a, b Write) int { return cmp.Compare(a.Column, b.Column) })
	if list := t.attempts[x.start]; len(list) > 0 {
		s.addMemory(list[0])
		return s
	}
	if x.load && x.commit == t.evidence.loaded && t.loadedAt != 0 {
		s.Ended = exact(x.commit, t.loadedAt)
		return s
	}
	s.Ended = t.source.moment(max(x.commit, x.start))
	return s
}

func (t *teller) stepOfMemory(m memory) Step {
	s := Step{What: StepRun, Start: m.start, Commit: m.commit}
	s.addMemory(m)
	return s
}

func (s *Step) addMemory(m memory) {
	s.Observer, s.On, s.Batch = m.observer, m.on, int(m.batch)
	waited, took := milliseconds(m.waited), milliseconds(time.Duration(m.end-m.began))
	s.WaitedMS, s.TookMS = &waited, &took
	s.Commit = max(s.Commit, m.commit)
	s.Ended = exact(max(s.Commit, s.Start), m.end)
	switch {
	case m.err == "":
	case m.conflict:
		s.What, s.Error = StepConflict, m.err
	default:
		s.What, s.Error = StepFailure, m.err
	}
}

// date sets the time since the load for each step.
func (t *teller) date() {
	j := t.journey
	loaded := t.source.moment(t.evidence.loaded)
	if t.loadedAt != 0 {
		loaded = exact(t.evidence.loaded, t.loadedAt)
	}
	j.Loaded, j.Recorded = &loaded, t.loadedAt != 0
	for i := range j.Steps {
		s := &j.Steps[i]
		if loaded.At != nil && s.Ended.At != nil {
			since := milliseconds(max(s.Ended.At.Sub(*loaded.At), 0))
			s.SinceLoadMS = &since
		}
	}
}
