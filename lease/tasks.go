package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Some work may be done only by the holder of a lease, and people ask for it from any
// machine. A request is a row in the table:
//
//	asked    the task, and the process that waits for it; written by the asker
//	report   who does it, how far it has come, and the result; written by the holder
//
// The holder looks for requests now and then, and does one at a time. It writes reports
// under the lease, so a former holder cannot. If the holder dies in the middle, its report
// names a token that is not that of the next holder, which begins again; so tasks must be
// idempotent. The asker removes the row when it has the result. The holder removes it if the
// asker is dead.

// Task does work that others have asked for. It reports its progress as a number that rises.
// The result is encoded as JSON.
type Task func(ctx context.Context, progress func(int)) (result any, err error)

var (
	askedColumn  = txn.Column{Group: Group, Name: "asked"}
	reportColumn = txn.Column{Group: Group, Name: "report"}
)

// request is a request for a task.
type request struct {
	Lease string `json:"lease"`
	Task  string `json:"task"`
	Asker string `json:"asker"` // its token
	Place Place  `json:"place"` // of the asker, for people

	row string
}

// report is how far a request has come.
type report struct {
	Holder   Holder `json:"holder"`
	Progress int    `json:"progress"`
	Done     bool   `json:"done"`
	Failed   string `json:"failed,omitempty"`
	// Full says that the task failed because a disk is full. Of all other errors, the asker only
	// needs the text.
	Full   bool            `json:"full,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// failure is the error of a task that has failed.
func (r *report) failure() error {
	err := fmt.Errorf("%s: %s", r.Holder.Place, r.Failed)
	if r.Full {
		return fullError{err}
	}
	return err
}

// fullError is an error that matches store.ErrNoSpace. The text of the holder says so already.
type fullError struct{ error }

func (fullError) Is(target error) bool { return target == store.ErrNoSpace }

// requestPrefix begins the rows of requests; no lease has such a name.
const requestPrefix = "\x00request/"

// serveAll looks for tasks that others request under the leases that this process holds. It does
// not wait for run, which may spend hours on the preparation for another lease.
func (m *Manager) serveAll(ctx context.Context) {
	for sleep.For(ctx, m.opts.Every) == nil {
		if m.live.Valid() == nil {
			m.whileValid(ctx, m.serveHeld)
		}
	}
}

// serveHeld looks once under each lease.
func (m *Manager) serveHeld(ctx context.Context) {
	wants := m.opts.Wants
	if b := m.opts.Balanced; b != nil {
		wants = slices.Concat(wants, b.Wants)
	}
	for _, w := range wants {
		if !m.Keeps(w.Name) {
			continue
		}
		if err := m.serve(ctx, w); err != nil && ctx.Err() == nil && m.opts.Failed != nil {
			m.opts.Failed(fmt.Errorf("lease %s: %w", w.Name, err))
		}
	}
}

// serve begins the next requested task, unless one is under way.
func (m *Manager) serve(ctx context.Context, w Want) error {
	m.mu.Lock()
	busy := m.serving[w.Name]
	m.mu.Unlock()
	if busy || len(w.Tasks) == 0 {
		return nil
	}
	list, unreadable := m.requests(ctx, w.Name)
	for _, q := range list {
		alive, err := m.live.Alive(ctx, q.Asker)
		if err != nil {
			return err
		}
		if !alive {
			return m.removeUnder(ctx, q)
		}
		r, err := m.reportOf(ctx, q.row)
		if errors.Is(err, store.ErrCorrupt) {
			unreadable = errors.Join(unreadable, err)
			continue
		}
		if err != nil {
			return err
		}
		if r.Done {
			continue // its asker is about to read it
		}
		m.mu.Lock()
		m.serving[w.Name] = true
		m.mu.Unlock()
		m.work.Go(func() {
			if err := m.perform(m.life, w, q); err != nil && m.life.Err() == nil && m.opts.Failed != nil {
				m.opts.Failed(fmt.Errorf("task %s: %w", q.Task, err))
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.serving[w.Name] = false
		})
		break
	}
	return unreadable
}

// requests lists the requests for a lease. It looks without a snapshot, which costs no
// timestamp and no question to the oracle: a request that it misses is found a second later. The
// list has all that can be read, also if the error names one that cannot.
func (m *Manager) requests(ctx context.Context, name string) (list []request, err error) {
	var unreadable error
	err = m.db.EachCommitted(ctx, askedColumn, requestPrefix, func(row string, value []byte) error {
		q := request{row: row}
		if err := json.Unmarshal(value, &q); err != nil {
			unreadable = fmt.Errorf("request %q: %w: %w", row, store.ErrCorrupt, err)
			return nil
		}
		if q.Lease == name {
			list = append(list, q)
		}
		return nil
	})
	return list, errors.Join(err, unreadable)
}

func (m *Manager) reportOf(ctx context.Context, row string) (r report, err error) {
	err = m.db.View(ctx, func(tx *txn.Txn) error {
		r, err = readReport(ctx, tx, row)
		return err
	})
	return r, err
}

func readReport(ctx context.Context, tx *txn.Txn, row string) (r report, err error) {
	v, err := tx.Get(ctx, row, reportColumn)
	if err != nil || !v.Exists {
		return r, err
	}
	if err := json.Unmarshal(v.Data, &r); err != nil {
		return r, fmt.Errorf("report on the request %q: %w: %w", row, store.ErrCorrupt, err)
	}
	return r, nil
}

// reportEvery is how often a holder writes how far it has come.
const reportEvery = time.Second

// perform does a task, and reports. If the process ends in the middle, or loses the lease,
// the report stays as it is, and the next holder begins again. It does nothing if the request is
// gone: the asker may have read the report of the task and withdrawn both after serve read the
// request. The task would otherwise be done a second time.
func (m *Manager) perform(ctx context.Context, w Want, q request) error {
	r := report{Holder: Holder{Token: m.live.Token(), Place: m.opts.Place, Since: time.Now().UTC().Truncate(time.Second)}}
	if wanted, err := m.writeReport(ctx, q, r); err != nil || !wanted {
		return err
	}
	task, ok := w.Tasks[q.Task]
	if !ok {
		r.Done, r.Failed = true, fmt.Sprintf("the holder of the lease %s, %s, does not know the task %q: use the same version of indexer everywhere", w.Name, m.opts.Place, q.Task)
		_, err := m.writeReport(ctx, q, r)
		return err
	}
	result, err := task(ctx, m.progressOf(ctx, q, r))
	if ctx.Err() != nil || m.live.Valid() != nil || errors.Is(err, notify.ErrNotHeld) {
		return errors.Join(err, context.Cause(ctx))
	}
	if err == nil {
		r.Result, err = json.Marshal(result)
	}
	r.Done = true
	if err != nil {
		r.Failed, r.Full = err.Error(), errors.Is(err, store.ErrNoSpace)
	}
	_, err = m.writeReport(ctx, q, r)
	return err
}

// progressOf returns a function that reports progress from time to time. It skips a report
// that cannot be written.
func (m *Manager) progressOf(ctx context.Context, q request, r report) func(int) {
	var mu sync.Mutex
	last := time.Now()
	return func(n int) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) < reportEvery {
			return
		}
		last = time.Now()
		r.Progress = n
		_, _ = m.writeReport(ctx, q, r)
	}
}

// writeReport writes a report if its asker still waits, and reports whether it does.
func (m *Manager) writeReport(ctx context.Context, q request, r report) (wanted bool, err error) {
	value, err := json.Marshal(r)
	if err != nil {
		return false, err
	}
	err = m.under(ctx, q.Lease, func(tx *txn.Txn) error {
		asked, err := tx.Get(ctx, q.row, askedColumn)
		if wanted = err == nil && asked.Exists; wanted {
			tx.Set(q.row, reportColumn, value)
		}
		return err
	})
	return wanted, err
}

// removeUnder removes a request whose asker is dead.
func (m *Manager) removeUnder(ctx context.Context, q request) error {
	return m.under(ctx, q.Lease, func(tx *txn.Txn) error {
		removeRequest(tx, q.row)
		return nil
	})
}

func removeRequest(tx *txn.Txn, row string) {
	tx.Delete(row, askedColumn)
	tx.Delete(row, reportColumn)
}

// under runs a transaction that commits only while this process holds the lease.
func (m *Manager) under(ctx context.Context, name string, fn func(*txn.Txn) error) error {
	run, err := m.Enter(ctx, name)
	if err != nil {
		return err
	}
	defer run.Leave()
	_, err = m.runWhileValid(ctx, func(tx *txn.Txn) error {
		if err := run.Guard(ctx, tx); err != nil {
			return err
		}
		return fn(tx)
	})
	return err
}
