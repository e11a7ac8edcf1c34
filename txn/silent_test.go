package txn

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestReadWhileSilent: a transaction that only reads outlasts a time without signs of life, unless
// others find its process dead or the time is long. One that may commit starts over at once.
func TestReadWhileSilent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		then   func(*desk) // just before a second is over
		begin  bool        // a transaction that may commit
		want   error       // nil: it reads
		waited time.Duration
	}{
		{name: "alive again", then: func(d *desk) { d.setSilent(false) }, waited: time.Second},
		{name: "found dead", then: (*desk).die, want: errDead, waited: time.Second},
		{name: "silent for long", then: func(*desk) {}, want: errSilent, waited: aliveWithin},
		{name: "may commit", then: func(*desk) {}, begin: true, want: errSilent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table, o := sharedTable(t), &office{}
				db, desk := openShared(t, table, o, Options{})
				tx := db.At(setC(t, db, "one"))
				if tt.begin {
					tx = mustBegin(t, db)
				}
				defer tx.Rollback()
				desk.setSilent(true)
				begun := time.Now()
				time.AfterFunc(time.Second-aliveEvery/2, func() { tt.then(desk) }) // between two looks
				v, err := tx.Get(t.Context(), "row", app("c"))
				if tt.want == nil && (err != nil || string(v.Data) != "one") || tt.want != nil && !(errors.Is(err, tt.want) && errors.Is(err, ErrConflict)) {
					t.Errorf("it reads %q, %v", v.Data, err)
				}
				if took := time.Since(begun); took < tt.waited || took > tt.waited+2*aliveEvery {
					t.Errorf("it took %v, want %v", took, tt.waited)
				}
				desk.setSilent(false)
			})
		})
	}
}
