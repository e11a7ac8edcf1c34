package txn

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
)

// Processes that live for a moment, minutes apart, each with one commit: the
// state of any minute in between is found by its time, and Oldest names the
// first.
func TestTimesBetweenShortProcesses(t *testing.T) {
	t.Run("an hour is kept", func(t *testing.T) { shortProcesses(t, time.Hour, 28, 31) })
	// The processes are much closer than samples of one process are.
	t.Run("months are kept", func(t *testing.T) { shortProcesses(t, 100*24*time.Hour, 40, 40) })
}

// shortProcesses wants least to most of 40 states to be readable.
func shortProcesses(t *testing.T, keep time.Duration, least, most int) {
	synctest.Test(t, func(t *testing.T) {
		table := openMem(t, Groups("app", "other"))
		defer closeTable(t, table)
		opts := Options{History: keep}
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
		if ts := timestampAt(t, db, began.Add(-time.Second)); ts != 0 {
			t.Errorf("a time before everything is %d", ts)
		}
		oldest, at := oldestOf(t, db)
		if oldest != db.SafePoint() || at.Before(began) {
			t.Errorf("the oldest is %d of %s, the safe point %d", oldest, at, db.SafePoint())
		}
		if read := readBetween(t, db, between, at); read < least || read > most {
			t.Errorf("%d of 40 can be read, want %d to %d", read, least, most)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// readBetween reads at each time, and counts those that can be read. Every time from
// at on must be readable.
func readBetween(t *testing.T, db *DB, between []time.Time, at time.Time) (read int) {
	for i, when := range between {
		release := db.Hold()
		ts := timestampAt(t, db, when)
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
	return read
}

// Processes that come and go all the time leave no more than twice the usual samples.
func TestSamplesOfBeginningsAreBounded(t *testing.T) {
	h := timeline{keep: time.Hour}
	start := time.Unix(1, 0)
	for i := range 3 * samplesPerHistory {
		h.note(start.Add(time.Duration(i)*time.Millisecond), true, uint64(i+1))
	}
	if n := len(h.samples); n > 2*samplesPerHistory+10 {
		t.Errorf("%d samples", n)
	}
}

// note takes a sample if it is due.
func (h *timeline) note(now time.Time, begin bool, ts uint64) {
	add, _, kept := h.due(now, begin, ts)
	if h.samples = kept; add.ts != 0 {
		h.samples = append(h.samples, add)
	}
}

// TestClockFromTheFuture: while the clock is wrong by years, samples are taken. Once it has been
// corrected, the history goes on.
func TestClockFromTheFuture(t *testing.T) {
	h := timeline{keep: time.Hour}
	start := time.Unix(1e9, 0)
	for minute := range 300 {
		now, ts := start.Add(time.Duration(minute)*time.Minute), uint64(minute+1)
		if minute >= 100 && minute < 105 {
			now = now.AddDate(10, 0, 0)
		}
		h.note(now, false, ts)
		if minute < 100 || minute >= 200 {
			if got := h.oldest(ts, now); got != ts-60 && got != 0 {
				t.Fatalf("after %d minutes, the history keeps what is above %d", minute, got)
			}
		}
	}
	if now := start.Add(300 * time.Minute); h.oldest(300, now) == 0 {
		t.Error("no sample is old enough")
	}
}

// A process without a history, in between, lets the past go: the times that are still
// known lead nowhere, and Oldest names what can be read since.
func TestOldestAfterAProcessWithoutHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := openMem(t, Groups("app", "other"))
		defer closeTable(t, table)
		began := time.Now()
		var db *DB
		for i, keep := range []time.Duration{time.Hour, time.Hour, 0, time.Hour} {
			time.Sleep(time.Minute)
			db = open(t, table, Options{History: keep})
			if _, err := db.Run(t.Context(), func(tx *Txn) error { tx.Set("row", app("c"), nil); return nil }); err != nil {
				t.Fatal(err)
			}
			if keep == 0 {
				if _, err := db.Collect(t.Context(), CollectOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if i < 3 {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		ts, at := oldestOf(t, db)
		if ts != db.SafePoint() || ts == 0 || timestampAt(t, db, at.Add(time.Nanosecond)) < ts {
			t.Errorf("the oldest is %d of %s after the beginning, which is %d; the safe point %d", ts, at.Sub(began), timestampAt(t, db, at), db.SafePoint())
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestTimesOfOtherProcesses: a process that collects nothing finds the times of commits that others
// have made since it began.
func TestTimesOfOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, coordinator := sharedTable(t), sharedtest.New()
		opts := Options{History: time.Hour}
		a, _ := openShared(t, table, coordinator, opts)
		b, _ := openShared(t, table, coordinator, opts)
		began := time.Now()
		for i := range 100 {
			time.Sleep(30 * time.Second)
			setC(t, a, fmt.Sprint(i))
			time.Sleep(30 * time.Second)
			publishAll(t, a, b)
			collect(t, a)
		}
		for ago := 10; ago < 60; ago += 10 {
			tx := b.At(timestampAt(t, b, time.Now().Add(-time.Duration(ago)*time.Minute-time.Second)))
			wantValue(t, tx, fmt.Sprint(99-ago))
			tx.Rollback()
		}
		if ts, at := oldestOf(t, b); ts != a.SafePoint() || at.Sub(began) < 38*time.Minute || at.Sub(began) > 42*time.Minute {
			t.Errorf("the oldest is %d of %s after the beginning, the safe point %d", ts, at.Sub(began), a.SafePoint())
		}
	})
}

// TestTimesOfOtherCenturies: a time of long ago is before all samples, and one of the far future is
// after them, even if the nanoseconds since 1970 do not fit into 64 bits.
func TestTimesOfOtherCenturies(t *testing.T) {
	table := openMem(t, Groups("app", "other"))
	defer closeTable(t, table)
	db := open(t, table, Options{History: time.Hour})
	setC(t, db, "now")
	last := db.LastTimestamp()
	for year, want := range map[int]uint64{1: 0, 1400: 0, 1500: 0, 1600: 0, 1900: 0, 2200: last, 2300: last, 2600: last, 9999: last} {
		if ts := timestampAt(t, db, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); ts != want {
			t.Errorf("the timestamp of the year %d is %d, want %d", year, ts, want)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func timestampAt(t *testing.T, db *DB, at time.Time) uint64 {
	t.Helper()
	ts, err := db.TimestampAt(t.Context(), at)
	if err != nil {
		t.Error(err)
	}
	return ts
}

func oldestOf(t *testing.T, db *DB) (uint64, time.Time) {
	t.Helper()
	ts, at, err := db.Oldest(t.Context())
	if err != nil {
		t.Error(err)
	}
	return ts, at
}

// TestSampleCoversOtherProcesses: a sample of one process covers what another one has committed since
// the first process asked the oracle. Otherwise a state would be shown that is earlier than the time.
func TestSampleCoversOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, coordinator := sharedTable(t), sharedtest.New()
		commits, _ := openShared(t, table, coordinator, Options{History: time.Hour})
		setC(t, commits, "old")
		samples, _ := openShared(t, table, coordinator, Options{History: time.Hour})
		time.Sleep(publishEvery + publishEvery/4) // both have asked
		setC(t, commits, "new")
		time.Sleep(publishEvery / 4)
		committed := time.Now()
		time.Sleep(publishEvery / 4)
		collect(t, samples)
		time.Sleep(publishEvery)
		tx := samples.At(timestampAt(t, samples, committed))
		defer tx.Rollback()
		wantValue(t, tx, "new")
	})
}
