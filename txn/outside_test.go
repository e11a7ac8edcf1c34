package txn

import (
	"errors"
	"maps"
	"strings"
	"testing"
)

// TestEachCommitted: it gives the newest committed value of exactly one column, whether the value is in
// its write record or not, and neither deletions nor what a dead transaction has left.
func TestEachCommitted(t *testing.T) {
	table := openMem(t, Groups("app"))
	defer closeTable(t, table)
	crash := false
	db := open(t, table, Options{Mode: TwoPhase, Step: func(name string, _ Cell) error {
		if crash && name == stepCommitPrimary {
			return ErrCrash
		}
		return nil
	}})
	defer db.Close()
	commit := func(write func(*Txn)) error {
		_, err := db.Run(t.Context(), func(tx *Txn) error { write(tx); return nil })
		return err
	}
	long := strings.Repeat("x", inlineLimit+1)
	if err := commit(func(tx *Txn) {
		for _, row := range []string{"p short", "p twice", "p deleted", "o before", "q after"} {
			tx.Set(row, app("c"), []byte("value"))
		}
		tx.Set("p long", app("c"), []byte(long))
		tx.Set("p another column", app("cc"), []byte("value"))
	}); err != nil {
		t.Fatal(err)
	}
	if err := commit(func(tx *Txn) {
		tx.Set("p twice", app("c"), []byte("again"))
		tx.Delete("p deleted", app("c"))
	}); err != nil {
		t.Fatal(err)
	}
	crash = true
	if err := commit(func(tx *Txn) {
		tx.Set("p short", app("c"), []byte("never"))
		tx.Set("p long", app("c"), []byte(strings.Repeat("y", inlineLimit+1)))
		tx.Set("p new", app("c"), []byte("never"))
	}); !errors.Is(err, ErrCrash) {
		t.Fatal(err)
	}
	got := make(map[string]string)
	err := db.EachCommitted(t.Context(), app("c"), "p ", func(row string, value []byte) error {
		got[row] = string(value)
		return nil
	})
	if want := map[string]string{"p short": "value", "p twice": "again", "p long": long}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	stop := errors.New("enough")
	if err := db.EachCommitted(t.Context(), app("c"), "", func(string, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("EachCommitted returns %v, not the error of its function", err)
	}
}
