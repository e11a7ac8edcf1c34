package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/txn"
)

// Balanced are leases that are divided evenly among the processes that want them, such as
// those of the shards of an index.
//
// # How they are divided
//
// A process that wants shares says so in the table (offer). From the table, each process
// learns which processes offer, and which leases each holds:
//
//   - Only a process that holds no more leases than any other offering one takes a free
//     lease. There is always such a process, so no lease stays free.
//   - If no lease is free, and the process with the most holds at least two more than the one
//     with the fewest, it gives one back. (If several hold the most, the one with the
//     smallest token does.) That ends when the numbers differ by at most one, so no lease
//     goes back and forth.
//   - A process that cannot prepare for a lease that it has taken gives it back, and does not
//     offer for a while, so that others do not leave the lease to it. No process works under the
//     lease during an attempt. So if others offer, each pause is twice as long as the one before.
//
// All this decides only who works. What keeps two processes from acting under one lease is the
// same as for any lease: the transaction that takes it, and its fences.
type Balanced struct {
	// Group names the division; Wants are its leases.
	Group string
	Wants []Want
	// Leave is called before the process gives a lease back to another one. It calls
	// drained, which returns when no run under the lease is under way and none can begin,
	// and then closes what Gained has opened. If it returns false, the process keeps the
	// lease for now; it must not have called drained then.
	Leave func(i int, drained func() error) (left bool, err error)
}

// A process that failed to prepare for a lease makes no offer for benchedLeast looks, and after
// further failures for benchedMost at most.
const (
	benchedLeast = 30
	benchedMost  = 600
)

var offerColumn = txn.Column{Group: Group, Name: "offer"}

func offerRow(group, token string) string { return "\x00offer\x00" + group + "\x00" + token }

// division is what a process sees of a division.
type division struct {
	holders []string // of each lease; "" if it is free
	offers  []string // tokens of processes that want leases
	dead    []string // tokens of offers of dead processes
}

// look reads the division.
func (m *Manager) look(ctx context.Context, b *Balanced) (d division, err error) {
	err = m.db.View(ctx, func(tx *txn.Txn) error {
		d, err = m.lookAt(ctx, tx, b)
		return err
	})
	return d, err
}

// lookAt reads the division in a snapshot.
func (m *Manager) lookAt(ctx context.Context, tx *txn.Txn, b *Balanced) (d division, err error) {
	alive := make(map[string]bool)
	isAlive := func(token string) (bool, error) {
		if known, ok := alive[token]; ok {
			return known, nil
		}
		ok, err := m.live.Alive(ctx, token)
		alive[token] = ok
		return ok, err
	}
	for _, w := range b.Wants {
		h, err := HolderOf(ctx, tx, w.Name)
		if err != nil {
			return d, err
		}
		token := ""
		if h != nil {
			ok, err := isAlive(h.Token)
			if err != nil {
				return d, err
			}
			if ok {
				token = h.Token
			}
		}
		d.holders = append(d.holders, token)
	}
	prefix := offerRow(b.Group, "")
	err = tx.Scan(ctx, Group, prefix, prefix+"\xff", func(row string, _ []txn.Version) error {
		token := strings.TrimPrefix(row, prefix)
		ok, err := isAlive(token)
		if ok {
			d.offers = append(d.offers, token)
		} else {
			d.dead = append(d.dead, token)
		}
		return err
	})
	return d, err
}

// next returns the lease that a process with this token has to take, and the one that it has
// to give back; -1 for none. random chooses among free leases, so that processes seldom want
// the same one.
func (d *division) next(own string, random func(n int) int) (take, leave int) {
	take, leave = -1, -1
	if !slices.Contains(d.offers, own) {
		return take, leave
	}
	count := make(map[string]int)
	var free []int
	last := -1 // of its own leases
	for i, token := range d.holders {
		switch count[token]++; token {
		case "":
			free = append(free, i)
		case own:
			last = i
		}
	}
	fewest := slices.MinFunc(d.offers, func(a, b string) int { return cmp.Compare(count[a], count[b]) })
	if len(free) > 0 {
		if count[own] == count[fewest] {
			take = free[random(len(free))]
		}
		return take, leave
	}
	most := slices.MinFunc(d.offers, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	if own == most && count[own] >= count[fewest]+2 {
		leave = last
	}
	return take, leave
}

// balance takes and gives back leases until this process has its share.
func (m *Manager) balance(ctx context.Context, b *Balanced) error {
	for ctx.Err() == nil {
		d, err := m.look(ctx, b)
		if err != nil {
			return err
		}
		if m.isBenched(&d) {
			return m.resign(ctx, b, &d)
		}
		if !slices.Contains(d.offers, m.live.Token()) {
			if err := m.offer(ctx, b, d.dead); err != nil {
				return err
			}
			continue
		}
		take, leave := d.next(m.live.Token(), rand.IntN)
		switch {
		case take >= 0:
			if err := m.takeShare(ctx, b, take); err != nil {
				return err
			}
		case leave >= 0:
			return m.leaveShare(ctx, b, leave) // and see who takes it
		default:
			return m.reclaim(ctx, b, &d)
		}
	}
	return nil
}

// isBenched reports whether this process makes no offer at this look.
func (m *Manager) isBenched(d *division) bool {
	if len(d.offers) == 0 { // no other process does the work meanwhile
		m.benched = min(m.benched, benchedLeast)
	}
	if m.benched == 0 {
		return false
	}
	m.benched--
	return true
}

// resign gives back the lease for which this process could not prepare, and withdraws its offer, if
// takeShare could not: what made the preparation fail may have made that fail as well.
func (m *Manager) resign(ctx context.Context, b *Balanced, d *division) error {
	var errs []error
	for i, token := range d.holders {
		if token == m.live.Token() && !m.Keeps(b.Wants[i].Name) {
			errs = append(errs, m.giveBack(ctx, b.Wants[i].Name))
		}
	}
	if slices.Contains(d.offers, m.live.Token()) {
		errs = append(errs, m.withdrawOffer(ctx, b))
	}
	return errors.Join(errs...)
}

// reclaim prepares again for leases that the table says this process has, and that it does
// not work under: an attempt to take one, or to give one back, had an unknown outcome.
func (m *Manager) reclaim(ctx context.Context, b *Balanced, d *division) error {
	for i, token := range d.holders {
		if token == m.live.Token() && !m.Keeps(b.Wants[i].Name) {
			if err := m.takeShare(ctx, b, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeShare takes a lease. If the process cannot prepare for it, it withdraws its offer.
func (m *Manager) takeShare(ctx context.Context, b *Balanced, i int) error {
	prepared, w := true, b.Wants[i]
	if gained := w.Gained; gained != nil {
		w.Gained = func(ctx context.Context) error {
			err := gained(ctx)
			prepared = err == nil
			return err
		}
	}
	err := m.try(ctx, w)
	switch {
	case m.Keeps(w.Name):
		m.bench = 0
	case !prepared && ctx.Err() == nil:
		m.bench = min(max(2*m.bench, benchedLeast), benchedMost)
		m.benched = m.bench
		err = errors.Join(err, m.withdrawOffer(ctx, b))
	}
	if err != nil {
		return fmt.Errorf("lease %s: %w", w.Name, err)
	}
	return nil
}

// leaveShare gives back a lease that another process has to take.
func (m *Manager) leaveShare(ctx context.Context, b *Balanced, i int) error {
	name := b.Wants[i].Name
	left, err := b.Leave(i, func() error { return m.drain(ctx, name) })
	if !left {
		return err
	}
	return errors.Join(err, m.giveBack(ctx, name))
}

// drain ends the work under a lease: no new run begins, and the current ones end. If ctx
// ends first, the process keeps the lease.
func (m *Manager) drain(ctx context.Context, name string) error {
	m.mu.Lock()
	h := m.held[name]
	delete(m.held, name)
	m.mu.Unlock()
	if h == nil {
		return nil
	}
	close(h.left)
	var drained []int
	for range fences {
		select {
		case i := <-h.free:
			drained = append(drained, i)
		case <-ctx.Done():
			m.keep(name, h.free, drained)
			return context.Cause(ctx)
		}
	}
	return nil
}

// keep lets runs begin again after an incomplete drain. Those under way return their fences to
// the same channel.
func (m *Manager) keep(name string, free chan int, drained []int) {
	for _, i := range drained {
		free <- i
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held[name] = &heldLease{free: free, left: make(chan struct{})}
}

// offer says in the table that this process wants leases, and removes the offers of dead
// processes.
func (m *Manager) offer(ctx context.Context, b *Balanced, dead []string) error {
	_, err := m.runWhileValid(ctx, func(tx *txn.Txn) error {
		for _, token := range dead {
			tx.Delete(offerRow(b.Group, token), offerColumn)
		}
		tx.Set(offerRow(b.Group, m.live.Token()), offerColumn, []byte(time.Now().UTC().Format(time.RFC3339)))
		return nil
	})
	if err != nil {
		return fmt.Errorf("offer to take leases of %s: %w", b.Group, err)
	}
	return nil
}

// withdrawOffer takes the offer back.
func (m *Manager) withdrawOffer(ctx context.Context, b *Balanced) error {
	_, err := m.runWhileValid(ctx, func(tx *txn.Txn) error {
		tx.Delete(offerRow(b.Group, m.live.Token()), offerColumn)
		return nil
	})
	if err != nil {
		return fmt.Errorf("withdraw the offer to take leases of %s: %w", b.Group, err)
	}
	return nil
}
