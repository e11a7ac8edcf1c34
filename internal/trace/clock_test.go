package trace

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
)

func openClock(t testing.TB, path string) *Clock {
	t.Helper()
	c, err := OpenClock(path)
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, c)
	return c
}

func note(t testing.TB, c *Clock, ts uint64, at time.Time) {
	t.Helper()
	if err := c.Note(ts, at); err != nil {
		t.Fatal(err)
	}
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// A timestamp was handed out between two samples, on the line between them.
func TestClock(t *testing.T) {
	c := openClock(t, filepath.Join(t.TempDir(), "clock"))
	at := func(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }
	note(t, c, 100, at(0))
	note(t, c, 200, at(10))
	for s := 11; s <= 3600; s++ {
		note(t, c, 200, at(float64(s))) // an idle hour
	}
	note(t, c, 300, at(3601))
	note(t, c, 250, at(3602)) // not ascending: nothing is noted
	note(t, c, 400, at(3600)) // the clock was set back: nothing, until it has caught up
	note(t, c, 400, at(3700))
	if len(c.samples) != 5 {
		t.Fatalf("%d samples: %v", len(c.samples), c.samples)
	}
	for _, w := range []struct {
		ts         uint64
		at, within float64
		ok         bool
	}{
		{99, 0, 0, false}, {100, 0, 0, false}, {101, 0.1, 9.9, true}, {150, 5, 5, true}, {200, 10, 10, true},
		{201, 3600.01, 0.99, true}, {250, 3600.5, 0.5, true}, {300, 3601, 1, true}, {350, 3650.5, 49.5, true}, {400, 3700, 99, true},
	} {
		got, within, ok := c.At(w.ts)
		if ok != w.ok || ok && (got.Sub(at(w.at)).Abs() > time.Millisecond || (within-time.Duration(w.within*float64(time.Second))).Abs() > time.Millisecond) {
			t.Errorf("timestamp %d: %v ± %v, %t; want %v ± %v s", w.ts, got.UTC(), within, ok, at(w.at), w.within)
		}
	}
}

// Whatever the samples, the true time of each timestamp is within the reported bounds,
// even after thinning, after a restart, and after a torn end.
func TestClockIsTrue(t *testing.T) {
	for seed := range testenv.Seeds(t, 0, 20) {
		random := rand.New(rand.NewPCG(seed, 7))
		path := filepath.Join(t.TempDir(), "clock")
		c := openClock(t, path)
		wall, ts := noon, uint64(17)
		truth := make(map[uint64]time.Time)
		note(t, c, ts, wall)
		for range 3000 {
			for range random.IntN(4) {
				wall = wall.Add(time.Duration(1 + random.IntN(20_000_000)))
				ts += 1 + uint64(random.IntN(1000))
				truth[ts] = wall
			}
			wall = wall.Add(time.Duration(1 + random.IntN(100_000_000)))
			note(t, c, ts, wall)
			if random.IntN(500) == 0 {
				c.samples = thinned(c.samples)
				if err := c.file.replace(c.samples); err != nil {
					t.Fatal(err)
				}
			}
		}
		check := func(what string, c *Clock) {
			t.Helper()
			last := time.Time{}
			for _, ts := range slices.Sorted(maps.Keys(truth)) {
				at, within, ok := c.At(ts)
				if !ok || truth[ts].Sub(at).Abs() > within || at.Before(last) {
					t.Fatalf("seed %d, %s: timestamp %d was at %v; told %v ± %v, %t; the one before %v", seed, what, ts, truth[ts], at, within, ok, last)
				}
				last = at
			}
		}
		check("in memory", c)
		again := openClock(t, path)
		if len(again.samples) != len(c.samples) {
			t.Fatalf("seed %d: %d samples of %d after opening again", seed, len(again.samples), len(c.samples))
		}
		check("opened again", again)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()-1-random.Int64N(200)); err != nil {
			t.Fatal(err)
		}
		torn := openClock(t, path)
		if n := len(torn.samples); n >= len(c.samples) || n < len(c.samples)-11 {
			t.Fatalf("seed %d: %d samples of %d after a torn end", seed, n, len(c.samples))
		}
		note(t, torn, ts+1000, wall.Add(time.Second))
		if last := openClock(t, path); len(last.samples) != len(torn.samples) {
			t.Fatalf("seed %d: what was noted after a torn end is lost: %d samples, not %d", seed, len(last.samples), len(torn.samples))
		}
	}
}

// The samples stay bounded, and the file with them.
func TestClockIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clock")
	c := openClock(t, path)
	for i := range 2 * maxSamples {
		note(t, c, uint64(100+i), noon.Add(time.Duration(i)*time.Second))
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.samples) >= maxSamples || info.Size() != int64(len(clockMagic)+sampleBytes*len(c.samples)) {
		t.Errorf("%d samples, %d bytes", len(c.samples), info.Size())
	}
	if at, within, ok := c.At(101); !ok || at.Sub(noon.Add(time.Second)).Abs() > within {
		t.Errorf("the oldest: %v ± %v, %t", at, within, ok)
	}
}

// A file of something else is begun anew; one that cannot be written is an error.
func TestClockFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "clock")
	for _, b := range []string{"", "ixcl", "something else that is long enough", clockMagic, clockMagic + "torn"} {
		if err := os.WriteFile(path, []byte(b), 0o644); err != nil {
			t.Fatal(err)
		}
		note(t, openClock(t, path), 100, noon)
		if n := len(openClock(t, path).samples); n != 1 {
			t.Errorf("%q: %d samples", b, n)
		}
	}
	if _, err := OpenClock(filepath.Join(dir, "missing", "clock")); err == nil {
		t.Error("no error in a directory that is not there")
	}
	c := openClock(t, path)
	if err := c.file.f.Close(); err != nil { // every write fails from here on
		t.Fatal(err)
	}
	if err := c.Note(200, noon.Add(time.Second)); err == nil {
		t.Error("no error of a write that failed")
	}
	if err := c.Note(300, noon.Add(2*time.Second)); err != nil {
		t.Errorf("told twice: %v", err)
	}
	if _, _, ok := c.At(250); !ok {
		t.Error("what cannot be written is not known in memory either")
	}
}

// Whatever is in the file, what is read of it ascends, and writing it again gives the
// bytes that were read.
func FuzzDecodeClock(f *testing.F) {
	f.Add([]byte(clockMagic))
	f.Add(encodeClock([]byte(clockMagic), []clockSample{{1, 2}, {3, 4}, {5, 4}}))
	f.Add(encodeClock([]byte(clockMagic), []clockSample{{5, 2}, {3, 4}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		samples := decodeClock(b)
		for i := 1; i < len(samples); i++ {
			if samples[i].wall <= samples[i-1].wall || samples[i].ts < samples[i-1].ts {
				t.Fatalf("sample %d: %v after %v", i, samples[i], samples[i-1])
			}
		}
		if again := encodeClock([]byte(clockMagic), samples); len(samples) > 0 && string(b[:len(again)]) != string(again) {
			t.Fatalf("%x became %x", b, again)
		}
	})
}
