package badgerdb

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
)

// committer is the only writer of a table. The goroutine that holds writeMu may write:
// usually the committer's own, which Open starts and which ends when Close closes the
// queue. If no other request waits, a caller may write its own request instead, which
// saves two switches between goroutines (byCaller).
//
// The goroutine takes what has queued up, as much as fits into one group, and
//
//  1. plans each request, and evaluates its guards against the store as it is;
//  2. reserves commit timestamps for the Commits whose guards hold;
//  3. writes all mutations of the group as one Badger transaction at the next
//     sequence number;
//  4. marks it as the last group (mark.go);
//  5. updates the resident sets and publishes the sequence number, so
//     that readers see the group (views.go);
//  6. tells the clock that the timestamps are visible;
//  7. answers the callers.
//
// Why a batch is atomic and its guards are exact: every write holds writeMu, and no
// request of a group reads what an earlier request of the same group changes. If such a
// request arrives, the group ends before it (touched), and it is planned again, against
// the result, as the first of the next group. So guards are only compared with a
// published state. If each of two batches guards a cell that the other writes, the second
// one finds the cell of the first.
//
// What a crash leaves: Badger replays a transaction from its log completely or not
// at all. So a group exists completely or not at all. If its callers were answered,
// it exists, and with SyncWrites it exists even if the machine is lost.
//
// After a failed write the contents of Badger's log are unknown. The callers get Unknown.
// The sequence number is not published, so no reader of this process sees the group. All
// later writes fail with the first error until the table is opened again. The clock's
// Visible is still called, because readers would otherwise wait for ever. That is safe,
// because no later write can depend on what they read.
type committer struct {
	writeMu   sync.Mutex // guards all below, and the right to write
	db        *DB
	planner   planner
	latest    latestCells
	residents []*resident // by group number, nil for groups that are not resident
	bounds    bounds      // as stored
	space     *spaceGuard
	stats     *counters
	seq       uint64   // of the last group
	carry     *request // ended the last group, comes first in the next
	clock     atomic.Pointer[store.Clock]
	fill      memtableFill
	waste     wasteEstimate
	failed    error
	sync      bool                    // Options.SyncWrites
	step      func(step string) error // nil but in tests
}

// The failpoints of group commit; txn.Steps says what dying there leaves behind.
const (
	StepGroupStamped = "group-stamped" // timestamps are reserved, nothing is written
	StepGroupWritten = "group-written" // it is in Badger's log, and not published
	StepGroupVisible = "group-visible" // readers see it, no caller was answered
)

func (c *committer) at(step string) error {
	if c.step == nil {
		return nil
	}
	return c.step(step)
}

// run is the goroutine.
func (c *committer) run() {
	for r := range c.db.queue {
		c.groups(r)
	}
}

// groups writes a request together with the requests queued behind it. A request
// that ended a group goes into the next one. A request can be withdrawn until writeMu
// has been acquired for it.
func (c *committer) groups(first *request) {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if !first.take() {
		return
	}
	for r := first; r != nil; r = c.carry {
		c.carry = nil
		if r.alone != nil {
			c.alone(r)
			continue
		}
		c.group(r, c.nextQueued)
	}
}

// byCaller writes a request in the caller's goroutine, unless writeMu is held. With
// SyncWrites it never does, so that several requests share one sync.
func (c *committer) byCaller(r *request) bool {
	if c.sync || r.alone != nil || !c.writeMu.TryLock() {
		return false
	}
	defer c.writeMu.Unlock()
	c.group(r, func() *request { return nil })
	return true
}

// alone runs a request that is a call, and not a write of rows.
func (c *committer) alone(r *request) {
	err := c.broken()
	if err == nil {
		err = r.alone()
	}
	r.answer(store.Result{}, err)
}

// group forms, writes and answers one group, of a request and those that next
// returns.
func (c *committer) group(first *request, next func() *request) {
	rd := &c.db.views.current.Load().reader // at c.seq
	accepted, size := c.accept(first, rd, next)
	if len(accepted) == 0 {
		return
	}
	if err := c.admit(size); err != nil {
		answerAll(accepted, store.Result{}, err)
		return
	}
	accepted, reserved := c.stamp(accepted)
	err := c.at(StepGroupStamped)
	if err == nil {
		err = c.write(accepted, rd)
	}
	if reserved {
		(*c.clock.Load()).Visible()
	}
	if err == nil {
		err = c.at(StepGroupVisible)
	}
	if err != nil {
		answerAll(accepted, store.Result{Outcome: store.Unknown}, c.fail(err))
		return
	}
	answerAll(accepted, store.Result{Outcome: store.Applied}, nil)
}

// admit is called before n bytes are written. It returns an error if they must not be.
//
// If the memtable may be full, Badger is about to make the log of the next one. If that fails, Badger
// 4.9.6 has no memtable any more, and every reader dereferences nil.
func (c *committer) admit(n int) error {
	err := c.space.admit(n)
	if err == nil && c.fill.mayBeFull() {
		if err = c.db.tables.place.probe(); err != nil {
			err = errs.Run("making a file", err)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrNotDone, err)
	}
	return nil
}

// fail makes the table refuse all further writes, and returns the error that they get.
func (c *committer) fail(err error) error {
	c.failed = fmt.Errorf("%w: %w", store.ErrBroken, err)
	return c.failed
}

// broken returns the reason why the table accepts no more writes, or nil if it does accept them.
func (c *committer) broken() error {
	if err := c.db.failed.err(); err != nil && c.failed == nil {
		return c.fail(err)
	}
	return c.failed
}

func answerAll(rs []*request, res store.Result, err error) {
	for _, r := range rs {
		r.answer(res, err)
	}
}

// accept takes requests until the group is full, there are none, or one does not
// fit. It answers requests that are refused or cannot be executed.
func (c *committer) accept(first *request, rd *reader, next func() *request) (accepted []*request, size int) {
	c.planner.reset()
	var changed touched
	for r := first; r != nil; r = next() {
		if r.alone != nil {
			c.carry = r
			break
		}
		if !c.planned(r, rd) {
			continue
		}
		if len(accepted) == 1 && changed == nil { // not before a second: most are alone
			changed = touched{}
			changed.add(&accepted[0].plan, c.planner.seed)
		}
		if len(accepted) > 0 && (changed.concerns(&r.plan) || size+r.plan.bytes > c.db.sizes.softGroup) {
			c.carry = r
			break
		}
		if !c.passes(r, rd) {
			continue
		}
		if changed != nil {
			changed.add(&r.plan, c.planner.seed)
		}
		accepted = append(accepted, r)
		size += r.plan.bytes
		if len(accepted) >= softGroupRequests {
			break
		}
	}
	return accepted, size
}

// planned plans a request, or answers why it cannot be executed.
func (c *committer) planned(r *request, rd *reader) bool {
	err := c.broken()
	if err != nil {
		err = fmt.Errorf("%w: %w", store.ErrNotDone, err)
	} else {
		err = c.planner.plan(r, rd)
	}
	if err != nil {
		r.answer(store.Result{}, err)
	}
	return err == nil
}

// passes evaluates the guards of a planned request, and answers it if one does not hold.
func (c *committer) passes(r *request, rd *reader) bool {
	refusal, err := c.refusal(r, rd)
	switch {
	case err != nil:
		r.answer(store.Result{}, err)
	case refusal != nil:
		c.stats.refused.Add(1)
		r.answer(*refusal, nil)
	default:
		return true
	}
	return false
}

// nextQueued returns a waiting request, nil if there is none.
func (c *committer) nextQueued() *request {
	for {
		select {
		case r, open := <-c.db.queue:
			if !open {
				return nil
			}
			if r.take() {
				return r
			}
		default:
			return nil
		}
	}
}

// stamp gives the Commits of a group their timestamps. If the clock has none, the
// Commits fail and the other requests continue.
func (c *committer) stamp(group []*request) (rest []*request, reserved bool) {
	n := 0
	for _, r := range group {
		if r.commit {
			n++
		}
	}
	if n == 0 {
		return group, false
	}
	first, err := c.reserve(n)
	if err != nil {
		rest = group[:0:0]
		for _, r := range group {
			if r.commit {
				r.answer(store.Result{}, err)
			} else {
				rest = append(rest, r)
			}
		}
		return rest, false
	}
	for _, r := range group {
		if r.commit {
			r.commitTS = first
			first++
		}
	}
	return group, true
}

func (c *committer) reserve(n int) (uint64, error) {
	clock := c.clock.Load()
	if clock == nil {
		return 0, errors.New("store: Commit before UseClock")
	}
	first, err := (*clock).Reserve(n)
	if err != nil {
		return 0, fmt.Errorf("%w: no commit timestamp: %w", store.ErrNotDone, err)
	}
	return first, nil
}

// write makes a group durable and visible.
func (c *committer) write(group []*request, rd *reader) error {
	c.latest.reset()
	b := &batch{c: c, rd: rd, txn: c.db.badger.NewTransactionAt(c.seq, true), latest: &c.latest, bounds: c.bounds}
	defer b.txn.Discard()
	if err := b.fill(group); err != nil {
		return errs.Run("preparing a write", err)
	}
	c.stats.requests.Add(uint64(len(group)))
	if b.entries == 0 {
		return nil
	}
	if err := c.commitWith(b.long, b.txn, b.entries+1, b.inline); err != nil {
		return err
	}
	if err := c.at(StepGroupWritten); err != nil {
		return err
	}
	if b.large {
		c.db.mark.sawValueLog(c.db.dir)
	}
	if err := c.db.mark.advance(c.seq + 1); err != nil {
		return errs.Run("marking a write", err)
	}
	c.seq++
	c.bounds = b.bounds
	b.done()
	c.publish()
	c.stats.wrote(b)
	return nil
}

// publish lets readers see the last group, and Badger discard what no reader can see any more.
func (c *committer) publish() {
	c.db.badger.SetDiscardTs(c.db.views.publish(c.seq, emptyGroups(c.residents)))
}
