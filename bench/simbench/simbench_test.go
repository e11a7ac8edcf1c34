package simbench

import (
	"math"
	"reflect"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestScanningConserves: whatever the table looks like, no notification is found twice, none
// is handled before it was found, and few are left at half load.
func TestScanningConserves(t *testing.T) {
	random := testenv.Random(t)
	for range testenv.Size(10, 20, 5000) {
		o := Scanning{
			Seed: random.Uint64(), Chunks: 1 + random.IntN(200), Read: 0.001 + random.Float64()/100, Handle: 0.001 + random.Float64()/20,
			Load: random.Float64() * 2, Seconds: 1 + 3*random.Float64(), Workers: 1 + random.IntN(20), Cure: random.IntN(2) == 0,
		}
		r := o.Run()
		if r.handled > r.found || r.found > r.arrived {
			t.Errorf("%+v: %d arrived, %d found, %d handled", o, r.arrived, r.found, r.handled)
		}
		if most := float64(o.Workers) * o.Seconds / o.Handle; float64(r.handled) > most+float64(o.Workers) {
			t.Errorf("%+v: %d handled, and there was only time for %.0f", o, r.handled, most)
		}
		if r.Met < 0 || r.Met > 1 || o.Workers == 1 && r.Met > 0 {
			t.Errorf("%+v: %.2f of the reads met another worker", o, r.Met)
		}
		if again := o.Run(); !reflect.DeepEqual(again, r) {
			t.Errorf("%+v: %+v, and then %+v", o, r, again)
		}
	}
}

// TestOneScanner: a worker alone finds a notification after half a sweep on average.
func TestOneScanner(t *testing.T) {
	o := Scanning{Seed: 1, Chunks: 100, Read: 0.01, Handle: 0.001, Load: 0.001, Seconds: 2000, Workers: 1}
	if r := o.Run(); math.Abs(r.MeanFound-0.5) > 0.05 {
		t.Errorf("%.3f s until found, want half a sweep, which is 0.5 s", r.MeanFound)
	}
}

// TestCure: with many workers, the cure finds notifications much earlier.
func TestCure(t *testing.T) {
	o := Scanning{Seed: 1, Chunks: 1000, Read: 0.005, Handle: 0.02, Load: 0.3, Seconds: 60, Workers: 16}
	without := o.Run()
	o.Cure = true
	with := o.Run()
	if without.MeanFound < 2*with.MeanFound {
		t.Errorf("%.3f s until found without the cure, %.3f s with it", without.MeanFound, with.MeanFound)
	}
}

// TestOracleConserves: no request is answered before it was made, or before a message can
// have gone there and back; with batching, a worker sends one request after the other.
func TestOracleConserves(t *testing.T) {
	random := testenv.Random(t)
	for range testenv.Size(10, 20, 2000) {
		o := Oracle{
			Seed: random.Uint64(), Workers: 1 + random.IntN(50), Rate: 10 + 1000*random.Float64(), Travel: random.Float64() / 1000,
			Request: random.Float64() / 1e4, Each: random.Float64() / 1e6, Seconds: 0.05 + random.Float64()/4, Batching: random.IntN(2) == 0,
		}
		r := o.Run()
		if r.answered > r.asked {
			t.Errorf("%+v: %d asked, %d answered", o, r.asked, r.answered)
		}
		if least := 1000 * (2*o.Travel + o.Request); r.asked > 0 && r.MeanMS < least {
			t.Errorf("%+v: answered after %.3f ms, before a message can be back after %.3f", o, r.MeanMS, least)
		}
		if most := float64(o.Workers) * (1/max(2*o.Travel+o.Request, 1e-9) + 1/o.Seconds); o.Batching && r.Requests > most {
			t.Errorf("%+v: %.0f requests a second, and one pending request each allows %.0f", o, r.Requests, most)
		}
		if again := o.Run(); !reflect.DeepEqual(again, r) {
			t.Errorf("%+v: %+v, and then %+v", o, r, again)
		}
	}
}

// TestBatchingSaves: far beyond what the oracle can answer one by one, batches are answered.
func TestBatchingSaves(t *testing.T) {
	o := Oracle{Seed: 1, Workers: 100, Rate: 5000, Travel: 0.00025, Request: 0.000005, Each: 5e-8, Seconds: 0.2}
	alone := o.Run()
	o.Batching = true
	together := o.Run()
	if most := 1 / (o.Request + o.Each); alone.PerSecond > most {
		t.Errorf("%.0f timestamps a second one by one, and there is time for %.0f", alone.PerSecond, most)
	}
	if together.PerSecond < 0.9*together.Asked {
		t.Errorf("%.0f timestamps a second of %.0f", together.PerSecond, together.Asked)
	}
}
