package schema

import (
	"encoding/hex"
	"reflect"
	"slices"
	"testing"
	"time"
)

var milli = time.Date(2026, 2, 28, 23, 59, 59, 123e6, time.UTC)

func someEntries() []FrontierEntry {
	full := FrontierEntry{
		State: EntryWaiting, Revisit: true, Refused: true, Withdrawn: true, Kept: true, Lapsed: true, Asked: true, Resource: true, Due: milli, Depth: 300, Hops: 9,
		ETag: `W/"x"`, LastModified: "Sat, 28 Feb 2026 23:59:59 GMT", Interval: 36 * time.Hour, Strikes: 4, Visits: 1 << 20,
		Last: milli.Add(-time.Hour), Source: "https://a.example/", Note: "visited", Weight: -MaxWeight, Claim: milli.Add(-time.Minute),
	}
	for i := range MaxHistory {
		full.History = append(full.History, PastVisit{
			Time: milli.Add(time.Duration(i%3) * time.Hour), Status: 200 + i, Effect: VisitEffect(i % 6), Bytes: int64(i) << 20, Took: time.Duration(i) * time.Second,
		})
	}
	return []FrontierEntry{{}, {Depth: 3, Weight: 2}, {Claim: milli}, {State: EntryDone, Visits: 1, History: []PastVisit{{Time: milli, Status: 304, Effect: VisitNotModified}}}, full}
}

// TestOldEntry: an entry that a version without weights and histories wrote is read.
func TestOldEntry(t *testing.T) {
	const stored = "0001" + "02" + "00" + "0322312203" + "476d74" + "8ca305" + "00" + "01" + "00" + "00" + "057365656473" + "0476697369"
	b, err := hex.DecodeString(stored)
	if err != nil {
		t.Fatal(err)
	}
	e, err := DecodeEntry(append(b, 't'))
	want := FrontierEntry{Revisit: true, Depth: 2, ETag: `"1"`, LastModified: "Gmt", Interval: 86412 * time.Second, Visits: 1, Source: "seeds", Note: "visi"}
	if err == nil {
		t.Errorf("a byte too many is taken for %+v", e)
	}
	if e, err = DecodeEntry(b); err != nil || !reflect.DeepEqual(e, want) {
		t.Errorf("%+v, %v", e, err)
	}
	if got := want.Encode(); !slices.Equal(got, b) {
		t.Errorf("it is written as %x now, which other versions do not read", got)
	}
}

// TestPlaces: a page's rank moves it by a few links, never before the seeds.
func TestPlaces(t *testing.T) {
	for _, tt := range []struct{ depth, weight, want int }{
		{0, 0, 0}, {0, -6, 0}, {0, 6, 0}, {1, 6, 1}, {1, -2, 3}, {5, 2, 3}, {9, 100, 3}, {9, -100, 15}, {255, -1, 255}, {1 << 30, 6, 255}, {258, 6, 252},
	} {
		e := FrontierEntry{Depth: tt.depth, Weight: tt.weight}
		if got := int(e.place()); got != tt.want {
			t.Errorf("depth %d, weight %d: place %d, want %d", tt.depth, tt.weight, got, tt.want)
		}
	}
}

// TestRemember: the last visits are kept, and a history that is shared is not
// written to.
func TestRemember(t *testing.T) {
	var e FrontierEntry
	var copies []FrontierEntry
	for i := range 3 * MaxHistory {
		copies = append(copies, e)
		e.Remember(PastVisit{Status: i})
	}
	if n := len(e.History); n != MaxHistory || e.History[n-1].Status != 3*MaxHistory-1 || e.History[0].Status != 2*MaxHistory {
		t.Errorf("%+v", e.History)
	}
	for i, c := range copies {
		if n := len(c.History); n != min(i, MaxHistory) || n > 0 && c.History[n-1].Status != i-1 {
			t.Errorf("copy %d has become %+v", i, c.History)
		}
	}
}
