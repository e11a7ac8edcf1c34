package txn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/webindexer/indexer/store"
)

// Pin keeps the state at a timestamp readable by name, across processes, until it
// is dropped or expires.
type Pin struct {
	Name string `json:"name"`
	// TS is the timestamp that stays readable, with everything above it.
	TS uint64 `json:"ts"`
	// Owner says who needs the pin, and why.
	Owner   string    `json:"owner"`
	Created time.Time `json:"created"`
	// Expires is the time at which the pin expires; the zero time means never.
	Expires time.Time `json:"expires,omitzero"`
}

func (p Pin) expired(now time.Time) bool { return !p.Expires.IsZero() && now.After(p.Expires) }

// ErrNoPin means that no pin has that name.
var ErrNoPin = errors.New("txn: there is no such pin")

// pinSet holds the pins of the table.
//
// A new pin is added to memory first, and a dropped pin is removed from memory last. So a
// pin that might be in the table always counts.
type pinSet struct {
	mu   sync.Mutex
	list map[string]Pin
}

var pinRow = []byte("pin")

func (s *pinSet) load(ctx context.Context, table store.Table) error {
	list := make(map[string]Pin)
	cells, err := table.Read(ctx, pinRow, store.Selector{Group: metaGroup, Prefix: true})
	if err != nil {
		return fmt.Errorf("txn: read the pins: %w", err)
	}
	for _, c := range cells {
		var p Pin
		if err := json.Unmarshal(c.Value, &p); err != nil || p.Name != string(c.Column) {
			return fmt.Errorf("txn: pin %q cannot be read: %w", c.Column, store.ErrCorrupt)
		}
		list[p.Name] = p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = list
	return nil
}

func (s *pinSet) oldest(least uint64, now time.Time) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.list {
		if !p.expired(now) {
			least = min(least, p.TS)
		}
	}
	return least
}

// Pin makes a pin, or moves the existing one of that name. With TS 0 it pins the
// current moment. It returns the pin as it was stored. Errors: one that matches
// ErrBelowSafePoint, with nothing changed; those of the store.
func (db *DB) Pin(ctx context.Context, p Pin) (Pin, error) {
	if p.Name == "" || strings.ContainsRune(p.Name, 0) {
		return Pin{}, fmt.Errorf("txn: pin %q: want a name without zero bytes", p.Name)
	}
	release := db.Hold()
	defer release()
	if p.TS == 0 {
		var err error
		if p.TS, err = db.Now(ctx); err != nil {
			return Pin{}, fmt.Errorf("txn: pin %q: %w", p.Name, err)
		}
	}
	p.Created = time.Now().UTC().Truncate(time.Second)
	ms, err := p.mutations()
	if err != nil {
		return Pin{}, err
	}
	if err := db.loadPins(ctx); err != nil {
		return Pin{}, err
	}
	before, undo, err := db.point.addPin(p)
	if err != nil {
		return Pin{}, fmt.Errorf("txn: pin %q: %w", p.Name, err)
	}
	if err := applyRow(ctx, db.table, pinRow, ms...); err != nil {
		undo()
		return Pin{}, fmt.Errorf("txn: store the pin %q: %w", p.Name, err)
	}
	return p, db.confirmPin(ctx, p, before)
}

// mutations store a pin in place of the one of that name.
func (p Pin) mutations() ([]store.Mutation, error) {
	value, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("txn: pin %q: %w", p.Name, err)
	}
	column := []byte(p.Name)
	put := store.Mutation{Op: store.Put, Group: metaGroup, Column: column, TS: p.TS, Value: value}
	return []store.Mutation{deleteMeta(column), put}, nil // the pin may move back in time
}

// confirmPin drops a new pin if another process raised the safe point above it before it was stored,
// and restores the previous one of that name, if there was one. The table had one of the two at every
// moment, so the safe point is not above the later one.
func (db *DB) confirmPin(ctx context.Context, p Pin, before *Pin) error {
	if !db.Shared() {
		return nil
	}
	made, err := db.next(ctx)
	if err == nil {
		err = applyRow(ctx, db.table, gcRow, putNumber(pinnedColumn, made, made)) // see gcshared.go
	}
	if err != nil {
		return fmt.Errorf("txn: pin %q: keep others from collecting: %w", p.Name, err)
	}
	ts, err := readSafePoint(ctx, db.table)
	if err != nil || ts <= p.TS {
		return err
	}
	late := fmt.Errorf("txn: pin %q: %w", p.Name, &SafePointError{TS: p.TS, SafePoint: ts})
	if before == nil {
		return errors.Join(late, db.Unpin(ctx, p.Name))
	}
	ms, err := before.mutations()
	if err != nil {
		return errors.Join(late, err)
	}
	if err := applyRow(ctx, db.table, pinRow, ms...); err != nil {
		return errors.Join(late, fmt.Errorf("txn: restore the pin %q: %w", p.Name, err))
	}
	return errors.Join(late, db.point.pins.load(ctx, db.table))
}

// addPin adds a pin in memory, unless it is below the safe point. before is the previous pin of that
// name, nil if there is none. undo restores it. The stored one is then unknown, so the older of both
// timestamps counts until the table is opened again.
func (p *safePoint) addPin(pin Pin) (before *Pin, undo func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pin.TS < p.ts {
		return nil, nil, &SafePointError{TS: pin.TS, SafePoint: p.ts}
	}
	s := &p.pins
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, had := s.list[pin.Name]; had {
		before = &old
	}
	s.list[pin.Name] = pin
	return before, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if before != nil && before.TS < pin.TS {
			s.list[pin.Name] = *before
		}
	}, nil
}

// Unpin drops a pin. It returns ErrNoPin if there is none of that name.
func (db *DB) Unpin(ctx context.Context, name string) error {
	if err := db.loadPins(ctx); err != nil {
		return err
	}
	s := &db.point.pins
	s.mu.Lock()
	_, ok := s.list[name]
	s.mu.Unlock()
	if !ok {
		return fmt.Errorf("%w: %q", ErrNoPin, name)
	}
	if err := applyRow(ctx, db.table, pinRow, deleteMeta([]byte(name))); err != nil {
		return fmt.Errorf("txn: drop the pin %q: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.list, name)
	return nil
}

// loadPins reads the pins again if other processes may have changed them.
func (db *DB) loadPins(ctx context.Context) error {
	if !db.Shared() {
		return nil
	}
	return db.point.pins.load(ctx, db.table)
}

// Pins lists the pins by name, including expired pins that were not dropped.
func (db *DB) Pins(ctx context.Context) ([]Pin, error) {
	if err := db.loadPins(ctx); err != nil {
		return nil, err
	}
	s := &db.point.pins
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Pin, 0, len(s.list))
	for _, name := range slices.Sorted(maps.Keys(s.list)) {
		list = append(list, s.list[name])
	}
	return list, nil
}

// dropExpired removes the pins that have expired.
func (db *DB) dropExpired(ctx context.Context) error {
	pins, err := db.Pins(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, p := range pins {
		if !p.expired(now) {
			continue
		}
		if err := db.Unpin(ctx, p.Name); err != nil {
			return err
		}
	}
	return nil
}
