package txn

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Processes that live for a moment, minutes apart, each with one commit: what any
// minute in between had is found by its time, and what Oldest names is the first.
func TestTimesBetweenShortProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := openMem(t, Groups("app", "other"))
		defer closeTable(t, table)
		opts := Options{History: time.Hour}
		began := time.Now()
		between := make([]time.Time, 0, 40) // i: after the commit of i, before that of i+1
		for i := range 40 {
			db := open(t, table, opts)
			if _, err := db.Run(t.Context(), func(tx *Txn) error {
				tx.Set("row", app("c"), []byte(fmt.Sprint(i)))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if i == 39 {
				if _, err := db.Collect(t.Context(), CollectOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			between = append(between, time.Now())
			time.Sleep(time.Minute)
		}
		db := open(t, table, opts)
		if ts := db.TimestampAt(began.Add(-time.Second)); ts != 0 {
			t.Errorf("a time before everything is %d", ts)
		}
		oldest, at := db.Oldest()
		if oldest != db.SafePoint() || oldest == 0 {
			t.Errorf("the oldest is %d, the safe point %d", oldest, db.SafePoint())
		}
		read := 0
		for i, when := range between {
			release := db.Hold()
			ts := db.TimestampAt(when)
			tx := db.At(ts)
			v, err := tx.Get(t.Context(), "row", app("c"))
			tx.Rollback()
			release()
			switch {
			case when.Before(at) && !errors.Is(err, ErrBelowSafePoint):
				t.Errorf("after %d, before the oldest time: %q, %v", i, v.Data, err)
			case !when.Before(at) && (err != nil || string(v.Data) != fmt.Sprint(i)):
				t.Errorf("after %d: %q, %v", i, v.Data, err)
			case err == nil:
				read++
			}
		}
		if read < 28 || read > 31 { // of an hour, two minutes apart
			t.Errorf("%d of 40 can be read", read)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Processes that come and go all the time leave no more than twice the usual samples.
func TestSamplesOfEdgesAreBounded(t *testing.T) {
	h := timeline{keep: time.Hour}
	start := time.Unix(1, 0)
	for i := range 3 * samplesPerHistory {
		add, remove := h.due(start.Add(time.Duration(i)*time.Millisecond), true, func() uint64 { return uint64(i + 1) })
		h.samples = h.samples[len(remove):]
		if add.ts != 0 {
			h.samples = append(h.samples, add)
		}
	}
	if n := len(h.samples); n > 2*samplesPerHistory+10 {
		t.Errorf("%d samples", n)
	}
}
