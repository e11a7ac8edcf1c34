package txn

import (
	"errors"
	"testing"
)

// TestPinMovedBackTooLate: a pin is moved back in time, to below what another process collects at
// that moment. The pin stays where it was, whichever process has made it.
func TestPinMovedBackTooLate(t *testing.T) {
	for _, own := range []bool{true, false} {
		table, o := sharedTable(t), &office{}
		hook := &beforeApply{Table: table}
		a, _ := openShared(t, hook, o, Options{})
		b, _ := openShared(t, table, o, Options{})
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
			if pins := db.Pins(); len(pins) != 1 || pins[0].TS != later {
				t.Errorf("the pins are %+v, want one at %d", pins, later)
			}
		}
	}
}
