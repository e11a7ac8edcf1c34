package observers

import "testing"

// TestPasses goes through the life of a pass: when one may begin, when one goes on, and
// what overtakes it. Numbers are timestamps.
func TestPasses(t *testing.T) {
	var x passes
	const row = "cluster"
	look := func(start uint64, wantPass, wantBegin bool, why string) {
		t.Helper()
		if p, begin := x.look(row, start); (p != nil) != wantPass || begin != wantBegin {
			t.Errorf("at %d: pass %t, may begin %t; want %t, %t: %s", start, p != nil, begin, wantPass, wantBegin, why)
		}
	}
	begin := func(at uint64) *pass {
		p := &pass{began: at}
		x.byRow[row].pass = p
		return p
	}
	x.changed(row, 4)
	look(5, false, false, "a run of index may have begun before the entry was there, and after us")
	look(5, false, false, "the same")
	x.changed(row, 9)
	look(8, false, false, "index has begun after us")
	look(10, false, true, "nothing came after us")
	p := begin(10)
	x.changed(row, 12)
	look(11, true, false, "it goes on to its end")
	if x.end(row, p) {
		t.Error("a pass is fresh that was overtaken")
	}
	look(12, false, false, "index has begun with us")
	look(13, false, true, "another one after the one that was overtaken")
	p = begin(13)
	if !x.end(row, p) {
		t.Error("a pass is not fresh that nothing has overtaken")
	}
	look(14, true, false, "the run that ended it may have met a conflict")
	x.evict()
	look(15, true, false, "there are few")
	for i := range keptPasses {
		x.look(string(rune('a'+i)), 20)
	}
	if x.byRow[row] != nil || len(x.byRow) < keptPasses {
		t.Errorf("%d entries; those that have ended go, and no others", len(x.byRow))
	}
	if x.end(row, p) {
		t.Error("a pass is fresh that nobody watches over")
	}
	x.drop("a")
	if x.byRow["a"] != nil {
		t.Error("what was dropped is there")
	}
}
