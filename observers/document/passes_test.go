package document

import "testing"

// TestPasses goes through the life of a pass: when one may begin, when one continues,
// and what overtakes it. Numbers are timestamps.
func TestPasses(t *testing.T) {
	t.Parallel()
	var x Passes
	const row = "cluster"
	current := func(start uint64, wantPass, wantBegin bool, why string) {
		t.Helper()
		if p, begin := x.Current(row, start); (p != nil) != wantPass || begin != wantBegin {
			t.Errorf("at %d: pass %t, may begin %t; want %t, %t: %s", start, p != nil, begin, wantPass, wantBegin, why)
		}
	}
	x.Changed(row, 4)
	current(5, false, false, "a run of index may have started before the entry was there, and after this run")
	current(5, false, false, "the same")
	x.Changed(row, 9)
	current(8, false, false, "index started after this run")
	current(10, false, true, "nothing came after this run")
	p := x.Begin(row, 10, nil)
	x.Changed(row, 12)
	current(11, true, false, "the pass goes on to its end")
	if x.End(row, p) {
		t.Error("a pass that was overtaken is fresh")
	}
	current(12, false, false, "index started at the same time")
	current(13, false, true, "another pass follows the one that was overtaken")
	p = x.Begin(row, 13, nil)
	if !x.End(row, p) {
		t.Error("a pass that nothing has overtaken is not fresh")
	}
	current(14, true, false, "the run that ended the pass may have met a conflict")
	x.evict()
	current(15, true, false, "there are few entries")
	x.Changed(row, 16) // few inlinks are left: index has exported them, and wakes count no more
	for i := range keptPasses {
		x.Current(string(rune('a'+i)), 20)
	}
	if x.byCluster[row] != nil || len(x.byCluster) < keptPasses {
		t.Errorf("%d entries; only those whose pass has ended may go", len(x.byCluster))
	}
	if x.End(row, p) {
		t.Error("a pass without an entry is fresh: changes would go unnoticed")
	}
	x.Drop("a")
	if x.byCluster["a"] != nil {
		t.Error("an entry is there after Drop")
	}
}
