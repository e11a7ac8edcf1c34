package txn

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
)

// TestPinMovedBackTooLate: a pin is moved back in time, to below what another process collects at
// that moment. The pin stays where it was, whichever process has made it.
func TestPinMovedBackTooLate(t *testing.T) {
	for _, own := range []bool{true, false} {
		table, coordinator := sharedTable(t), sharedtest.New()
		hook := &beforeWrite{Table: table}
		a, _ := openShared(t, hook, coordinator, Options{})
		b, _ := openShared(t, table, coordinator, Options{})
		past, later := setC(t, a, "one"), setC(t, a, "two")
		maker := b
		if own {
			maker = a
		}
		if _, err := maker.Pin(t.Context(), Pin{Name: "p", TS: later}); err != nil {
			t.Fatal(err)
		}
		setC(t, a, "three")
		publishAll(t, a, b) // what Pin holds from now on is above the pins
		advance := func() {
			publishAll(t, a, b)
			if ts, err := b.advance(t.Context()); err != nil || ts != later {
				t.Errorf("the safe point is %d, %v, with a pin at %d", ts, err, later)
			}
		}
		hook.row, hook.do = pinRow, advance
		if _, err := a.Pin(t.Context(), Pin{Name: "p", TS: past}); !errors.Is(err, ErrBelowSafePoint) || hook.do != nil {
			t.Errorf("pin below the safe point: %v", err)
		}
		setC(t, a, "four")
		advance()
		for _, db := range []*DB{a, b} {
			if pins := pinsOf(t, db); len(pins) != 1 || pins[0].TS != later {
				t.Errorf("the pins are %+v, want one at %d", pins, later)
			}
		}
	}
}

// TestPinOfAnotherProcess: a process makes a pin last for longer, and another one knows only when it
// was to expire before. It lists the pin as it is, and does not drop it.
func TestPinOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, coordinator := sharedTable(t), sharedtest.New()
		a, _ := openShared(t, table, coordinator, Options{})
		hours := func(n time.Duration) time.Time { return time.Now().Add(n * time.Hour).UTC().Truncate(time.Second) }
		pin := Pin{Name: "p", TS: setC(t, a, "one"), Expires: hours(1)}
		if _, err := a.Pin(t.Context(), pin); err != nil {
			t.Fatal(err)
		}
		b, _ := openShared(t, table, coordinator, Options{})
		pin.Expires = hours(3)
		if _, err := a.Pin(t.Context(), pin); err != nil {
			t.Fatal(err)
		}
		if pins := pinsOf(t, b); len(pins) != 1 || !pins[0].Expires.Equal(pin.Expires) {
			t.Errorf("%+v, want %+v", pins, pin)
		}
		pin.Expires = hours(4)
		if _, err := a.Pin(t.Context(), pin); err != nil {
			t.Fatal(err)
		}
		setC(t, a, "two")
		time.Sleep(210 * time.Minute)
		if got := collect(t, b); got.SafePoint != pin.TS || len(pinsOf(t, a)) != 1 {
			t.Errorf("the safe point is %d, with a pin at %d", got.SafePoint, pin.TS)
		}
	})
}

// TestPinNotStored: after a pin could not be moved, the table may hold either one, so the older one
// holds back the safe point.
func TestPinNotStored(t *testing.T) {
	for _, back := range []bool{false, true} {
		table := openMem(t, Groups("app"))
		defer closeTable(t, table)
		db := open(t, &failingApply{Table: table, left: 1}, Options{})
		defer db.Close()
		release := db.Hold()
		from, to := setC(t, db, "one"), setC(t, db, "two")
		oldest := from
		if back {
			from, to = to, from
		}
		if _, err := db.Pin(t.Context(), Pin{Name: "p", TS: from}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Pin(t.Context(), Pin{Name: "p", TS: to}); !errors.Is(err, errApply) {
			t.Fatal(err)
		}
		setC(t, db, "three")
		release()
		if got := collect(t, db); got.SafePoint != oldest {
			t.Errorf("the safe point is %d, with a pin at %d or %d", got.SafePoint, from, to)
		}
	}
}

func pinsOf(t *testing.T, db *DB) []Pin {
	t.Helper()
	pins, err := db.Pins(t.Context())
	if err != nil {
		t.Error(err)
	}
	return pins
}
