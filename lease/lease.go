package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Group is the locality group of leases. A table that several processes share has it.
const Group = "lease"

var (
	holderColumn = txn.Column{Group: Group, Name: "holder"}
	fenceColumn  = txn.Column{Group: Group, Name: "fence"}
)

// fences is how many runs under one lease can be under way at a time; further ones wait.
const fences = 16

// Holder is who holds a lease.
type Holder struct {
	Token string    `json:"token"`
	Place Place     `json:"place"`
	Since time.Time `json:"since"` // by the holder's clock
}

// Place tells people, and processes on the same machine, where a process is.
type Place struct {
	Host    string `json:"host"`
	Process int    `json:"process"`
	Data    string `json:"data"` // its data directory
	// Search is the address at which it answers searches of the shards that it holds; "": it
	// does not.
	Search string `json:"search,omitempty"`
}

// SameDirectory reports whether two processes use one data directory.
func (p Place) SameDirectory(other Place) bool { return p.Host == other.Host && p.Data == other.Data }

// String is the process and its host.
func (p Place) String() string { return fmt.Sprintf("process %d on %s", p.Process, p.Host) }

// Want is a lease that a process wants to hold.
type Want struct {
	Name string
	// Gained prepares for work under the lease; nil: nothing to prepare. While it runs, the
	// process has the lease and begins no run. If it fails, the process gives the lease
	// back, and tries again later.
	Gained func(ctx context.Context) error
	// Tasks are the tasks that other processes may ask the holder to do (Manager.Ask).
	Tasks map[string]Task
}

// Options are the options of a Manager.
type Options struct {
	Wants []Want
	// Balanced are leases that processes divide evenly among them; nil: none.
	Balanced *Balanced
	Place    Place
	// Every is how often the manager looks for leases to take; 0: a second.
	Every time.Duration
	// Lost is called once, when other processes have found this one dead. From then on it
	// holds no lease, and its transactions fail.
	Lost func(error)
	// Failed receives errors after which the manager tries again, and the reason when this
	// process stops acting under its leases for a while.
	Failed func(error)
	// Resumed is called when the process acts under its leases again.
	Resumed func()
}

// Manager holds and looks for leases.
type Manager struct {
	db   *txn.DB
	live txn.Liveness
	opts Options

	taking  sync.Mutex // held while a lease is taken and prepared
	mu      sync.Mutex
	held    map[string]*heldLease
	serving map[string]bool // leases under which a task is under way
	life    context.Context // of tasks, which outlast the look that began them: from Start to Halt
	cancel  context.CancelFunc
	work    sync.WaitGroup

	rests []rest // of opts.Wants; only run uses them
	// Looks for which no offer is made after a failure, and those that are left (balance.go).
	// Only run uses them.
	bench, benched int
}

// heldLease is a lease that this process holds.
type heldLease struct {
	free chan int      // the fences that no run has
	left chan struct{} // closed when no run may begin any more
}

func newHeld() *heldLease {
	h := &heldLease{free: make(chan int, fences), left: make(chan struct{})}
	for i := range fences {
		h.free <- i
	}
	return h
}

// New returns a manager that holds nothing yet.
func New(db *txn.DB, live txn.Liveness, opts Options) *Manager {
	if opts.Every <= 0 {
		opts.Every = time.Second
	}
	return &Manager{db: db, live: live, opts: opts, held: make(map[string]*heldLease), serving: make(map[string]bool), rests: make([]rest, len(opts.Wants))}
}

// Start looks for leases from now on, until Stop. The end of ctx does not end it.
func (m *Manager) Start(ctx context.Context) {
	m.life, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	m.work.Go(func() { m.run(m.life) })
	m.work.Go(func() { m.serveAll(m.life) })
}

// Halt ends the search for leases, and returns when none is being prepared (Want.Gained).
// The process keeps what it holds until Stop. What Gained opens must not be closed before
// then.
func (m *Manager) Halt() {
	if m.cancel != nil {
		m.cancel()
		m.work.Wait()
	}
}

// stopWithin bounds how long Stop takes to give all leases back. When a whole deployment is
// stopped, the oracles may be gone already, and each transaction would wait for one for half a
// minute.
const stopWithin = 5 * time.Second

// errStopped is the reason why Stop gives up.
var errStopped = fmt.Errorf("no answer within %v; the leases become free when the token of this process expires", stopWithin)

// Stop gives all leases back. No run under a lease may be under way. If the process ends
// without it, or if it takes too long, the leases become free when its token expires.
func (m *Manager) Stop(ctx context.Context) error {
	m.Halt()
	m.mu.Lock()
	names := slices.Sorted(maps.Keys(m.held))
	clear(m.held)
	m.mu.Unlock()
	if m.live.Valid() != nil {
		return nil // a process that considers this one dead takes them
	}
	ctx, cancel := context.WithTimeoutCause(ctx, stopWithin, errStopped)
	defer cancel()
	var errs []error
	if b := m.opts.Balanced; b != nil {
		errs = append(errs, m.withdrawOffer(ctx, b))
	}
	for _, name := range names {
		if ctx.Err() == nil {
			errs = append(errs, m.giveBack(ctx, name))
		}
	}
	return errors.Join(errs...)
}

func (m *Manager) run(ctx context.Context) {
	ticker := time.NewTicker(m.opts.Every)
	defer ticker.Stop()
	for lapsed := false; ; {
		err := m.live.Valid()
		dead := m.db.FoundDead(ctx)
		switch {
		case dead != nil:
			m.lose(dead)
			return
		case err == nil:
			if lapsed && m.opts.Resumed != nil {
				m.opts.Resumed()
			}
			m.whileValid(ctx, m.tryAll)
		case !lapsed && m.opts.Failed != nil:
			m.opts.Failed(fmt.Errorf("leases rest until others can know that this process is alive: %w", err))
		}
		lapsed = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// whileValid calls fn with a context that ends when this process ceases to be valid. When the
// oracle cannot answer, a request for a timestamp waits for half a minute. Without
// whileValid, the process would not notice meanwhile that it must suspend its leases.
func (m *Manager) whileValid(ctx context.Context, fn func(context.Context)) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	watch.Go(func() {
		for sleep.For(ctx, m.opts.Every) == nil {
			if err := m.live.Valid(); err != nil {
				cancel(err)
				return
			}
		}
	})
	fn(ctx)
}

// tryAll tries to take each lease that this process wants and does not hold.
func (m *Manager) tryAll(ctx context.Context) {
	for i, w := range m.opts.Wants {
		var err error
		switch r := &m.rests[i]; {
		case m.Keeps(w.Name):
		case r.left > 0:
			r.left--
		default:
			err = m.try(ctx, w)
			r.after(err)
		}
		if err != nil && ctx.Err() == nil && m.opts.Failed != nil {
			m.opts.Failed(fmt.Errorf("lease %s: %w", w.Name, err))
		}
	}
	if b := m.opts.Balanced; b != nil {
		if err := m.balance(ctx, b); err != nil && ctx.Err() == nil && m.opts.Failed != nil {
			m.opts.Failed(err)
		}
	}
}

// lose ends everything that the process does under leases.
func (m *Manager) lose(why error) {
	m.mu.Lock()
	clear(m.held)
	m.mu.Unlock()
	if m.opts.Lost != nil {
		m.opts.Lost(why)
	}
}

// try takes a lease if no live process holds it, and prepares for the work.
func (m *Manager) try(ctx context.Context, w Want) error {
	m.taking.Lock()
	defer m.taking.Unlock()
	if m.Keeps(w.Name) {
		return nil
	}
	taken, err := m.take(ctx, w.Name)
	if err != nil || !taken {
		return err
	}
	if w.Gained != nil {
		if err := w.Gained(ctx); err != nil {
			return errors.Join(unprepared{err}, m.giveBack(context.WithoutCancel(ctx), w.Name))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held[w.Name] = newHeld()
	return nil
}

// Take takes a lease if no live process holds it, and reports whether this process then
// holds it. It is for processes that have not called Start.
func (m *Manager) Take(ctx context.Context, w Want) (bool, error) {
	err := m.try(ctx, w)
	return m.Held(w.Name), err
}

// take is the transaction that takes a lease. It first checks the lease without taking
// a timestamp, so that processes that wait for a lease do not keep others from finding
// that all work is done.
func (m *Manager) take(ctx context.Context, name string) (taken bool, err error) {
	err = m.db.View(ctx, func(tx *txn.Txn) error {
		taken, err = m.free(ctx, tx, name)
		return err
	})
	if err != nil || !taken {
		return false, err
	}
	value, err := json.Marshal(Holder{Token: m.live.Token(), Place: m.opts.Place, Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return false, err
	}
	_, err = m.runWhileValid(ctx, func(tx *txn.Txn) error {
		if taken, err = m.free(ctx, tx, name); err != nil || !taken {
			return err
		}
		tx.Set(holderRow(name), holderColumn, value)
		for i := range fences {
			tx.Set(fenceRow(name, i), fenceColumn, []byte(m.live.Token()))
		}
		return nil
	})
	return taken && err == nil, err
}

// free reports whether no live process holds a lease. If the holder has our own token, an
// earlier attempt of ours succeeded, although its outcome was unknown.
func (m *Manager) free(ctx context.Context, tx *txn.Txn, name string) (bool, error) {
	h, err := HolderOf(ctx, tx, name)
	if err != nil || h == nil || h.Token == m.live.Token() {
		return err == nil, err
	}
	alive, err := m.live.Alive(ctx, h.Token)
	return err == nil && !alive, err
}

func (m *Manager) giveBack(ctx context.Context, name string) error {
	_, err := m.runWhileValid(ctx, func(tx *txn.Txn) error {
		h, err := HolderOf(ctx, tx, name)
		if err != nil || h == nil || h.Token != m.live.Token() {
			return err
		}
		tx.Delete(holderRow(name), holderColumn)
		return nil
	})
	if err != nil {
		return fmt.Errorf("give back the lease %s: %w", name, err)
	}
	return nil
}

// runWhileValid is Run, but stops trying once others may consider this process dead: each of
// its transactions then has a conflict.
func (m *Manager) runWhileValid(ctx context.Context, fn func(*txn.Txn) error) (uint64, error) {
	return m.db.Run(ctx, func(tx *txn.Txn) error {
		if err := m.live.Valid(); err != nil {
			return err
		}
		return fn(tx)
	})
}

// HolderOf returns the holder of a lease in a snapshot, or nil. The process may be
// dead.
func HolderOf(ctx context.Context, tx *txn.Txn, name string) (*Holder, error) {
	v, err := tx.Get(ctx, holderRow(name), holderColumn)
	if err != nil || !v.Exists {
		return nil, err
	}
	return decodeHolder(name, v.Data)
}

func decodeHolder(name string, b []byte) (*Holder, error) {
	h := new(Holder)
	if err := json.Unmarshal(b, h); err != nil {
		return nil, fmt.Errorf("holder of the lease %s: %w: %w", name, store.ErrCorrupt, err)
	}
	return h, nil
}

// List returns the leases in a table, by name, with their last holders. It needs no
// transaction, so it works without an oracle. A holder may be dead.
func List(ctx context.Context, table store.Reader) (map[string]Holder, error) {
	held := make(map[string]Holder)
	err := txn.EachCommitted(ctx, table, holderColumn, "", func(row string, value []byte) error {
		h, err := decodeHolder(row, value)
		if err == nil {
			held[row] = *h
		}
		return err
	})
	return held, err
}

func holderRow(name string) string { return name }

func fenceRow(name string, i int) string { return name + "\x00" + strconv.Itoa(i) }

// Keeps reports whether this process has a lease, even while it does not act under it because
// others may consider it dead.
func (m *Manager) Keeps(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held[name] != nil
}

// Preparing reports whether h, the holder of a lease, is this process while it is not ready for the
// work: it is still preparing, or is giving the lease back.
func (m *Manager) Preparing(name string, h *Holder) bool {
	return h.Token == m.live.Token() && !m.Keeps(name)
}

// Held implements notify.Leases.
func (m *Manager) Held(name string) bool { return m.Keeps(name) && m.live.Valid() == nil }

// Enter implements notify.Leases.
func (m *Manager) Enter(ctx context.Context, name string) (notify.LeasedRun, error) {
	m.mu.Lock()
	h := m.held[name]
	m.mu.Unlock()
	if h == nil {
		return nil, notify.ErrNotHeld
	}
	select {
	case i := <-h.free:
		return &run{m: m, name: name, fence: i, free: h.free}, nil
	case <-h.left:
		return nil, notify.ErrNotHeld
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// run is a run under a lease.
type run struct {
	m     *Manager
	name  string
	fence int
	free  chan<- int
}

// Guard implements notify.LeasedRun.
func (r *run) Guard(ctx context.Context, tx *txn.Txn) error {
	v, err := tx.GetForUpdate(ctx, fenceRow(r.name, r.fence), fenceColumn)
	if err != nil {
		return fmt.Errorf("lease %s: %w", r.name, err)
	}
	if string(v.Data) != r.m.live.Token() {
		return notify.ErrNotHeld
	}
	return nil
}

// Leave implements notify.LeasedRun.
func (r *run) Leave() { r.free <- r.fence }
