package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// ask asks with little wait.
func (m *member) ask(ctx context.Context, q Question) (string, error) {
	q.Lease, q.Task, q.Every = "x", "work", time.Millisecond
	result, err := m.Ask(ctx, q)
	return string(result), err
}

// requests counts the requests in the table, and the reports that have none.
func (f *fleet) requests() int {
	f.t.Helper()
	rows := make(map[string]bool)
	for _, c := range []txn.Column{askedColumn, reportColumn} {
		err := txn.EachCommitted(f.t.Context(), f.table, c, "", func(row string, _ []byte) error { rows[row] = true; return nil })
		if err != nil {
			f.t.Fatal(err)
		}
	}
	return len(rows)
}

// request writes a request of m for the task work, and does not wait for the result.
func (m *member) request(t *testing.T, lease, row string) {
	t.Helper()
	value, err := json.Marshal(request{Lease: lease, Task: "work", Asker: m.process.Token()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.db.Run(t.Context(), func(tx *txn.Txn) error {
		tx.Set(requestPrefix+row, askedColumn, value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fleet) holder(task Task) *member {
	f.t.Helper()
	m := f.join(Options{Wants: []Want{{Name: "x", Tasks: map[string]Task{"work": task}}}, Place: Place{Process: 1}})
	m.Start(f.t.Context())
	waitFor(f.t, "x", m)
	return m
}

func (f *fleet) stop(list ...*member) {
	f.t.Helper()
	for _, m := range list {
		if err := m.Stop(f.t.Context()); err != nil {
			f.t.Error(err)
		}
	}
}

// TestAsk: the holder does what another process asks for, and its result or error comes back.
func TestAsk(t *testing.T) {
	f := newFleet(t)
	fails := false
	h := f.holder(func(context.Context, func(int)) (any, error) {
		if fails {
			return nil, fmt.Errorf("rebuild: %w", store.ErrNoSpace)
		}
		return map[string]int{"documents": 7}, nil
	})
	asker := f.join(Options{})
	if got, err := asker.ask(t.Context(), Question{}); err != nil || got != `{"documents":7}` {
		t.Errorf("%s, %v", got, err)
	}
	fails = true
	if _, err := asker.ask(t.Context(), Question{}); !errors.Is(err, store.ErrNoSpace) || err.Error() != "process 1 on : rebuild: "+store.ErrNoSpace.Error() {
		t.Error(err)
	}
	result, err := asker.Ask(t.Context(), Question{Lease: "x", Task: "dance", Every: time.Millisecond})
	if err == nil || errors.Is(err, store.ErrNoSpace) || !strings.Contains(err.Error(), "does not know the task") {
		t.Errorf("%s, %v", result, err)
	}
	if n := f.requests(); n != 0 {
		t.Errorf("%d requests are left", n)
	}
	f.stop(h, asker)
}

// TestResultWithoutJSON: a result that JSON cannot express is a failure of the task. The holder does not
// do the task again and again while the asker waits.
func TestResultWithoutJSON(t *testing.T) {
	f := newFleet(t)
	h := f.holder(func(context.Context, func(int)) (any, error) { return math.NaN(), nil })
	asker := f.join(Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := asker.ask(ctx, Question{}); err == nil || !strings.Contains(err.Error(), "unsupported value: NaN") {
		t.Error(err)
	}
	f.stop(h, asker)
}

// TestAskNobody: without a holder, the request is withdrawn, and the asker can take the
// lease itself.
func TestAskNobody(t *testing.T) {
	f := newFleet(t)
	asker := f.join(Options{})
	if _, err := asker.ask(t.Context(), Question{Wait: time.Millisecond}); !errors.Is(err, ErrNobody) {
		t.Error(err)
	}
	if n := f.requests(); n != 0 {
		t.Errorf("%d requests are left", n)
	}
	if held, err := asker.Take(t.Context(), Want{Name: "x"}); !held || err != nil {
		t.Error(held, err)
	}
	other := f.join(Options{})
	if held, err := other.Take(t.Context(), Want{Name: "x"}); held || err != nil {
		t.Error("two processes hold the lease", err)
	}
	f.stop(asker, other)
	if held, err := other.Take(t.Context(), Want{Name: "x"}); !held || err != nil {
		t.Error(held, err)
	}
	f.stop(other)
}

// TestAskHolderDies: a holder dies in the middle of a task. What it still does under the
// lease does not count. The next holder begins again, and the asker learns of both.
func TestAskHolderDies(t *testing.T) {
	f := newFleet(t)
	begun, release := make(chan struct{}), make(chan struct{})
	first := f.holder(func(context.Context, func(int)) (any, error) {
		close(begun)
		<-release
		return "too late", nil
	})
	asker := f.join(Options{})
	type answer struct {
		result string
		err    error
	}
	answers := make(chan answer)
	told := make(chan struct{})
	var once sync.Once
	go func() {
		result, err := asker.ask(t.Context(), Question{Wait: time.Minute, Holder: func(Place) { once.Do(func() { close(told) }) }})
		answers <- answer{result, err}
	}()
	<-begun
	<-told // who has begun, before a second one begins
	first.process.Die()
	second := f.holder(func(context.Context, func(int)) (any, error) { return "in time", nil })
	close(release)
	if a := <-answers; a.result != `"in time"` || a.err != nil {
		t.Errorf("%s, %v", a.result, a.err)
	}
	f.stop(first, second, asker)
}

// TestAskWhilePreparing: a task is done while its process prepares for another lease, which may take
// hours.
func TestAskWhilePreparing(t *testing.T) {
	f := newFleet(t)
	preparing := make(chan bool)
	h := f.join(Options{Wants: []Want{
		{Name: "x", Tasks: map[string]Task{"work": func(context.Context, func(int)) (any, error) { return "done", nil }}},
		{Name: "y", Gained: func(ctx context.Context) error {
			close(preparing)
			<-ctx.Done()
			return context.Cause(ctx)
		}},
	}})
	h.Start(t.Context())
	asker := f.join(Options{})
	<-preparing
	if got, err := asker.ask(t.Context(), Question{}); err != nil || got != `"done"` {
		t.Errorf("%s, %v", got, err)
	}
	f.stop(h, asker)
}

// TestAskWithdrawn: an asker that is interrupted withdraws its request; that of one that is
// dead is removed by the holder.
func TestAskWithdrawn(t *testing.T) {
	f := newFleet(t)
	asker, dead := f.join(Options{}), f.join(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := asker.ask(ctx, Question{}); err == nil {
		t.Error("an interrupted asker has a result")
	}
	dead.request(t, "x", "1")
	dead.process.Die()
	h := f.holder(func(context.Context, func(int)) (any, error) { return nil, errors.New("nobody waits for it") })
	for f.requests() > 0 {
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the request of a dead process stays")
		}
	}
	f.stop(h, asker)
}

// TestTaskOutlastsLooks: the round of balancing that has begun a task ends, others follow,
// and the task continues.
func TestTaskOutlastsLooks(t *testing.T) {
	f := newFleet(t)
	var looks atomic.Int32
	other := Want{Name: "y", Gained: func(context.Context) error { looks.Add(1); return errors.New("not yet") }}
	task := func(ctx context.Context, _ func(int)) (any, error) {
		for first := looks.Load(); looks.Load() < first+3; {
			select {
			case <-time.After(time.Millisecond):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return "done", nil
	}
	h := f.join(Options{Wants: []Want{{Name: "x", Tasks: map[string]Task{"work": task}}, other}})
	h.Start(t.Context())
	waitFor(t, "x", h)
	if got, err := f.join(Options{}).ask(t.Context(), Question{}); err != nil || got != `"done"` {
		t.Errorf("%s, %v", got, err)
	}
	f.stop(h)
}

// TestTaskNobodyWaitsFor: a request that was withdrawn since the holder read it, because its task
// was done, is not done again.
func TestTaskNobodyWaitsFor(t *testing.T) {
	f := newFleet(t)
	var done atomic.Int64
	task := func(context.Context, func(int)) (any, error) { return done.Add(1), nil }
	h := f.holder(task)
	want, late := Want{Name: "x", Tasks: map[string]Task{"work": task}}, request{Lease: "x", Task: "work", row: requestPrefix + "withdrawn"}
	if err := h.perform(t.Context(), want, late); err != nil || done.Load() != 0 || f.requests() != 0 {
		t.Errorf("%v; done %d times, %d requests", err, done.Load(), f.requests())
	}
	asker := f.join(Options{})
	if got, err := asker.ask(t.Context(), Question{}); err != nil || got != "1" {
		t.Errorf("a request that somebody waits for: %s, %v", got, err)
	}
	f.stop(h, asker)
}

// unsure cannot tell whether other processes are alive.
type unsure struct{ txn.Liveness }

var errUnsure = errors.New("etcd does not answer")

func (unsure) Alive(context.Context, string) (bool, error) { return true, errUnsure }

// TestUnknownAsker: a holder that cannot tell whether the asker is alive leaves the request.
func TestUnknownAsker(t *testing.T) {
	f := newFleet(t)
	holder, asker := f.join(Options{}), f.join(Options{})
	want := Want{Name: "x", Tasks: map[string]Task{"work": func(context.Context, func(int)) (any, error) { return nil, nil }}}
	if held, err := holder.Take(t.Context(), want); !held || err != nil {
		t.Fatal(held, err)
	}
	asker.request(t, "x", "1")
	holder.live = unsure{holder.live}
	if err := holder.serve(t.Context(), want); !errors.Is(err, errUnsure) {
		t.Errorf("serve returns %v", err)
	}
	if n := f.requests(); n != 1 {
		t.Errorf("%d requests are left, want 1", n)
	}
}

// TestTaskIsDoneOnce: a holder does not do a task again while its asker has not read the report, and
// goes on to the next request.
func TestTaskIsDoneOnce(t *testing.T) {
	f := newFleet(t)
	holder, asker := f.join(Options{}), f.join(Options{})
	done := 0
	want := Want{Name: "x", Tasks: map[string]Task{"work": func(context.Context, func(int)) (any, error) { done++; return done, nil }}}
	if held, err := holder.Take(t.Context(), want); !held || err != nil {
		t.Fatal(held, err)
	}
	asker.request(t, "x", "1")
	asker.request(t, "x", "2")
	holder.life = t.Context()
	for look, wantDone := range []int{1, 2, 2} {
		if err := holder.serve(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		holder.work.Wait()
		if done != wantDone {
			t.Errorf("after look %d, tasks were done %d times, want %d", look, done, wantDone)
		}
	}
}
