package txn

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
)

// TestReadWhileSilent: a transaction that only reads outlasts a time without signs of life, unless
// others find its process dead or the time is long. One that may commit starts over at once.
func TestReadWhileSilent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		then   func(*sharedtest.Process) // just before a second is over
		begin  bool                      // a transaction that may commit
		want   error                     // nil: it reads
		waited time.Duration
	}{
		{name: "alive again", then: func(p *sharedtest.Process) { p.SetSilent(false) }, waited: time.Second},
		{name: "found dead", then: (*sharedtest.Process).Die, want: sharedtest.ErrDead, waited: time.Second},
		{name: "silent for long", then: func(*sharedtest.Process) {}, want: sharedtest.ErrSilent, waited: aliveWithin},
		{name: "may commit", then: func(*sharedtest.Process) {}, begin: true, want: sharedtest.ErrSilent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table, coordinator := sharedTable(t), sharedtest.New()
				db, process := openShared(t, table, coordinator, Options{})
				tx := db.At(setC(t, db, "one"))
				if tt.begin {
					tx = mustBegin(t, db)
				}
				defer tx.Rollback()
				process.SetSilent(true)
				begun := time.Now()
				time.AfterFunc(time.Second-aliveEvery/2, func() { tt.then(process) }) // between two looks
				v, err := tx.Get(t.Context(), "row", app("c"))
				if tt.want == nil && (err != nil || string(v.Data) != "one") || tt.want != nil && !(errors.Is(err, tt.want) && errors.Is(err, ErrConflict)) {
					t.Errorf("it reads %q, %v", v.Data, err)
				}
				if took := time.Since(begun); took < tt.waited || took > tt.waited+2*aliveEvery {
					t.Errorf("it took %v, want %v", took, tt.waited)
				}
				process.SetSilent(false)
			})
		})
	}
}
