package oracle

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestDeadProcessIsForgotten: the token of a killed process is removed although no other
// process waits for anything that it held. Tokens of processes that live stay.
func TestDeadProcessIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		o := start(t, &link{Table: table}, "oracle")
		takeOne(t, o)
		lives, killed := joinThrough(t, &link{Table: table}), joinThrough(t, &link{Table: table})
		killed.cancel() // without telling anybody
		time.Sleep(2*tokenSweep + TTL)
		left, err := Processes(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) != 2 {
			t.Errorf("%d processes are listed, want 2: %v", len(left), left)
		}
		for _, p := range left {
			if p.Token == killed.Token() {
				t.Errorf("the killed process is still listed: %v", p)
			}
		}
		if err := lives.Leave(t.Context()); err != nil {
			t.Error("a process that lives was found dead:", err)
		}
		stop(t, o)
	})
}
