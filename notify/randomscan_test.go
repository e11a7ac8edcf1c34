package notify

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestScansWhileRowsBackOff: rows that wait to be tried again give the workers nothing to do, so
// the process still looks for the notifications of others.
func TestScansWhileRowsBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.before = func(rows []string) error {
			if strings.HasPrefix(rows[0], "down") {
				return ErrUnavailable
			}
			return nil
		}
		loader, worker := f.join(0), f.join(1)
		for i := range 2 * rowsPerWorker {
			worker.set(fmt.Sprint("down ", i), "a", "1") // first runs on it, here
		}
		time.Sleep(time.Minute) // now all of them back off for some seconds
		loader.set("row 0", "b", "1")
		time.Sleep(time.Second)
		f.runs.mu.Lock()
		if n := f.runs.n["second row 0"]; n != 1 {
			t.Errorf("second has committed %d times for a row of another process, want 1", n)
		}
		f.runs.mu.Unlock()
		worker.close()
		loader.close()
	})
}
