package division

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/crawler/partition"
	"github.com/webindexer/indexer/txn"
)

// ErrNotHeld means that a transaction is about a host whose partition this process has lost.
var ErrNotHeld = errors.New("another crawler has taken over the host")

// Crawler is a crawler in this process. Its methods do not block.
type Crawler interface {
	// Gain and Release say which partitions it may ask; see package crawler.
	Gain(parts []int)
	Release(parts []int)
	// Released returns the released partitions for which all work has ended.
	Released() []int
	// Wake says that a host has something new in its queue.
	Wake(host string)
	// Accept receives a forwarded file.
	Accept(file []byte) error
	// Fail ends the crawl.
	Fail(err error)
}

// Options are the options of a Member.
type Options struct {
	// Every is how often the member reads the table; 0: a second.
	Every time.Duration
	// Failed receives errors after which the member tries again. It may be nil.
	Failed func(error)
}

// Member is a crawler's part in the division of hosts. It implements crawler.Share.
type Member struct {
	db   *txn.DB
	live txn.Liveness
	opts Options

	crawler Crawler
	cancel  context.CancelFunc
	work    sync.WaitGroup

	// Only the goroutine of run uses these, and Leave after it.
	held     map[int]bool
	leaving  map[int]bool // of held: released, and not given back yet
	ended    []int        // of leaving: the crawler is done with them
	troubled bool         // the last step failed

	mu    sync.Mutex
	state State
	first time.Time // when the first of the crawlers alive began
}

// Join makes this process one of the crawlers of a table. Until Start it holds nothing.
func Join(ctx context.Context, db *txn.DB, live txn.Liveness, opts Options) (*Member, error) {
	if opts.Every <= 0 {
		opts.Every = time.Second
	}
	machine, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("division: find the name of this machine: %w", err)
	}
	now := time.Now().UTC()
	m := &Member{
		db: db, live: live, opts: opts, held: make(map[int]bool), leaving: make(map[int]bool),
		state: State{Host: machine, Process: os.Getpid(), Since: now}, first: now,
	}
	return m, m.SetIdle(ctx, false)
}

// Start gives the crawler its share of the hosts from now on, until Leave. The end of ctx
// does not end it.
func (m *Member) Start(ctx context.Context, c Crawler) {
	m.crawler = c
	ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	m.work.Go(func() { m.run(ctx) })
	m.work.Go(func() { m.watch(ctx) })
}

// watch ends the crawl when others may consider this process dead. It checks often: a
// request may take a minute, and the successor waits only for the delay of the host.
func (m *Member) watch(ctx context.Context) {
	ticker := time.NewTicker(m.opts.Every / 10)
	defer ticker.Stop()
	for {
		if err := m.live.Valid(); err != nil {
			m.crawler.Fail(fmt.Errorf("other crawlers may consider this one dead: %w", err))
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (m *Member) run(ctx context.Context) {
	ticker := time.NewTicker(m.opts.Every)
	defer ticker.Stop()
	for {
		if m.live.Valid() != nil {
			return // see watch
		}
		err := m.step(ctx)
		if err != nil && ctx.Err() == nil && m.opts.Failed != nil && !m.troubled {
			m.opts.Failed(err) // once, not every second
		}
		m.troubled = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// step reads the table once, and takes and releases partitions accordingly.
func (m *Member) step(ctx context.Context) error {
	now, err := m.db.Now(ctx)
	if err != nil {
		return err
	}
	tx := m.db.At(now)
	v, err := readView(ctx, tx)
	tx.Rollback()
	if err != nil {
		return err
	}
	alive, err := v.alive(ctx, m.live)
	if err != nil {
		return err
	}
	m.noteFirst(v, alive)
	if err := m.bury(ctx, v, alive); err != nil {
		return err
	}
	var give, take []int
	for p := range partition.Count {
		switch mine := partition.Owner(alive, p) == m.live.Token(); {
		case mine && !m.held[p] && (v.holders[p] == m.live.Token() || !slices.Contains(alive, v.holders[p])):
			take = append(take, p)
		case !mine && m.held[p] && !m.leaving[p]:
			give = append(give, p)
			m.leaving[p] = true
		}
	}
	if len(give) > 0 {
		m.crawler.Release(give)
	}
	if err := m.giveBack(ctx, m.crawler.Released()); err != nil {
		return err
	}
	if err := m.takeAll(ctx, take); err != nil {
		return err
	}
	return m.receive(ctx, v)
}

// noteFirst notes when the crawl began.
func (m *Member) noteFirst(v *view, alive []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.first = m.state.Since
	for _, token := range alive {
		if s := v.crawlers[token]; s.Since.Before(m.first) {
			m.first = s.Since
		}
	}
}

// bury removes the rows of dead crawlers that hold nothing.
func (m *Member) bury(ctx context.Context, v *view, alive []string) error {
	for token := range v.crawlers {
		if slices.Contains(alive, token) || slices.Contains(v.holders[:], token) {
			continue
		}
		if _, err := m.db.Run(ctx, func(tx *txn.Txn) error {
			tx.Delete(crawlerRow(token), stateColumn)
			return nil
		}); err != nil {
			return fmt.Errorf("division: remove a crawler that is dead: %w", err)
		}
	}
	return nil
}

// atOnce is how many partitions one transaction takes or gives back.
const atOnce = 32

// takeAll takes partitions that no live process holds.
func (m *Member) takeAll(ctx context.Context, parts []int) error {
	for some := range slices.Chunk(parts, atOnce) {
		taken, err := m.take(ctx, some)
		if err != nil {
			return fmt.Errorf("division: take over hosts: %w", err)
		}
		for _, p := range taken {
			m.held[p] = true
		}
		m.crawler.Gain(taken)
	}
	return nil
}

func (m *Member) take(ctx context.Context, parts []int) (taken []int, err error) {
	token := []byte(m.live.Token())
	_, err = m.runWhileValid(ctx, func(tx *txn.Txn) error {
		taken = taken[:0]
		for _, p := range parts {
			free, err := m.free(ctx, tx, p)
			if err != nil {
				return err
			}
			if !free {
				continue
			}
			taken = append(taken, p)
			tx.Set(partitionRow(p), holderColumn, token)
			for i := range uint64(fences) {
				tx.Set(fenceRow(p), fenceColumn(i), token)
			}
		}
		return nil
	})
	return taken, err
}

// free reports whether no live process holds a partition. If the holder has our own
// token, an earlier attempt of ours succeeded, although its outcome was unknown.
func (m *Member) free(ctx context.Context, tx *txn.Txn, p int) (bool, error) {
	v, err := tx.Get(ctx, partitionRow(p), holderColumn)
	if err != nil || !v.Exists || string(v.Data) == m.live.Token() {
		return err == nil, err
	}
	alive, err := m.live.Alive(ctx, string(v.Data))
	return err == nil && !alive, err
}

// giveBack frees the partitions that the crawler is done with. If that fails, no crawler asks
// their hosts until it succeeds: after an unknown outcome, another crawler may have taken them.
func (m *Member) giveBack(ctx context.Context, parts []int) error {
	m.ended = append(m.ended, parts...)
	for len(m.ended) > 0 {
		some := m.ended[:min(atOnce, len(m.ended))]
		if err := m.giveSome(ctx, some); err != nil {
			return fmt.Errorf("division: give hosts to another crawler: %w", err)
		}
		for _, p := range some {
			delete(m.held, p)
			delete(m.leaving, p)
		}
		m.ended = m.ended[len(some):]
	}
	return nil
}

func (m *Member) giveSome(ctx context.Context, parts []int) error {
	_, err := m.runWhileValid(ctx, func(tx *txn.Txn) error {
		for _, p := range parts {
			v, err := tx.Get(ctx, partitionRow(p), holderColumn)
			if err != nil {
				return err
			}
			if string(v.Data) == m.live.Token() {
				tx.Delete(partitionRow(p), holderColumn)
			}
		}
		return nil
	})
	return err
}

// Leave gives everything back. The crawler has ended. If the process ends without Leave,
// its partitions move when its token has expired. It reports whether other crawlers may be
// at work.
func (m *Member) Leave(ctx context.Context) (others bool, err error) {
	if m.cancel != nil {
		m.cancel()
		m.work.Wait()
	}
	if m.live.Valid() != nil {
		return true, nil // a process that considers this one dead takes them
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(m.held)), atOnce) {
		if err := m.giveSome(ctx, some); err != nil {
			return true, fmt.Errorf("division: give hosts to other crawlers: %w", err)
		}
	}
	clear(m.held)
	_, err = m.runWhileValid(ctx, func(tx *txn.Txn) error {
		tx.Delete(crawlerRow(m.live.Token()), stateColumn)
		return nil
	})
	if err != nil {
		return true, fmt.Errorf("division: leave the crawl: %w", err)
	}
	now, err := m.db.Now(ctx)
	if err != nil {
		return true, err
	}
	tx := m.db.At(now)
	defer tx.Rollback()
	v, err := readView(ctx, tx)
	if err != nil {
		return true, err
	}
	alive, err := v.alive(ctx, m.live)
	return len(alive) > 0, err
}

// runWhileValid is Run, but stops trying once others may consider this process dead.
func (m *Member) runWhileValid(ctx context.Context, fn func(*txn.Txn) error) (uint64, error) {
	return m.db.Run(ctx, func(tx *txn.Txn) error {
		if err := m.live.Valid(); err != nil {
			return err
		}
		return fn(tx)
	})
}

// Guard makes a transaction about a host commit only if this crawler still holds the
// host's partition then. Transactions with different salts rarely conflict.
func (m *Member) Guard(ctx context.Context, tx *txn.Txn, host, salt string) error {
	p := partition.Of(host)
	v, err := tx.GetForUpdate(ctx, fenceRow(p), fenceColumn(xxhash.Sum64String(salt)))
	if err != nil {
		return fmt.Errorf("division: fence of %s: %w", host, err)
	}
	if string(v.Data) != m.live.Token() {
		return fmt.Errorf("division: %s: %w", host, ErrNotHeld)
	}
	return nil
}

// Valid implements crawler.Share.
func (m *Member) Valid() error { return m.live.Valid() }

// Since implements crawler.Share.
func (m *Member) Since() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.first
}

// SetIdle implements crawler.Share.
func (m *Member) SetIdle(ctx context.Context, idle bool) error {
	m.mu.Lock()
	m.state.Idle = idle
	data, err := json.Marshal(m.state)
	m.mu.Unlock()
	if err == nil {
		_, err = m.runWhileValid(ctx, func(tx *txn.Txn) error {
			tx.Set(crawlerRow(m.live.Token()), stateColumn, data)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("division: register this crawler: %w", err)
	}
	return nil
}

// Finished implements crawler.Share. It looks without waiting first, because asking
// whether all work is done takes scans of the whole table.
func (m *Member) Finished(ctx context.Context) (bool, error) {
	now, err := m.db.Now(ctx)
	if err != nil {
		return false, err
	}
	if done, err := m.finishedAt(ctx, now); err != nil || !done {
		return false, err
	}
	release := m.db.Hold() // keeps the timestamp readable until At has pinned it
	defer release()
	ts, quiet, err := m.db.Quiescent(ctx)
	if err != nil || !quiet {
		return false, err
	}
	return m.finishedAt(ctx, ts)
}

func (m *Member) finishedAt(ctx context.Context, ts uint64) (bool, error) {
	tx := m.db.At(ts)
	defer tx.Rollback()
	v, err := readView(ctx, tx)
	if err != nil {
		return false, err
	}
	alive, err := v.alive(ctx, m.live)
	return err == nil && v.finished(alive), err
}
