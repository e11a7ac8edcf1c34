package txn

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestGarbageOrder: garbage may go one record after the other, and stop anywhere.
// At no moment does a reader at or above the safe point see another state, or a write
// record without its data.
func TestGarbageOrder(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), 3000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var records []gcRecord
		ts := uint64(10)
		for range rng.IntN(8) {
			start := ts
			ts += 1 + rng.Uint64N(3)
			switch rng.IntN(6) {
			case 0:
				records = append(records, gcRecord{kind: kindWrite, ts: ts, start: start, op: opDelete})
			case 1:
				records = append(records, gcRecord{kind: kindRollback, ts: start})
			case 2:
				records = append(records, gcRecord{kind: kindLockOnly, ts: ts, start: start, op: opLock})
			case 3:
				records = append(records, gcRecord{kind: kindData, ts: start}, gcRecord{kind: kindWrite, ts: ts, start: start})
			case 4:
				records = append(records, gcRecord{kind: kindData, ts: start}) // written late, for a transaction that was rolled back
			default:
				records = append(records, gcRecord{kind: kindWrite, ts: ts, start: start})
			}
			ts++
		}
		rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		p := 9 + rng.Uint64N(ts-8)
		dead, later := garbageOf(records, p)
		for _, r := range records {
			if want, known := outlived(records, r, p); known && slices.Contains(dead, r) != want {
				t.Fatalf("seed %d, safe point %d: removes %v of %v", seed, p, dead, records)
			}
		}
		for done := range len(dead) + 1 {
			left := slices.DeleteFunc(slices.Clone(records), func(r gcRecord) bool { return slices.Contains(dead[:done], r) })
			for s := p; s <= ts; s++ {
				want, got := visible(records, s), visible(left, s)
				if want != got {
					t.Fatalf("seed %d, safe point %d, %d of %v gone: at %d the write of %d is seen, not that of %d\nof %v", seed, p, done, dead, s, got.ts, want.ts, records)
				}
				hasData := func(list []gcRecord) bool {
					return slices.Contains(list, gcRecord{kind: kindData, ts: want.start})
				}
				if want.ts > 0 && hasData(records) && !hasData(left) {
					t.Fatalf("seed %d: the data of the write at %d is gone", seed, want.ts)
				}
			}
		}
		left := slices.DeleteFunc(slices.Clone(records), func(r gcRecord) bool { return slices.Contains(dead, r) })
		if again, _ := garbageOf(left, p); len(again) > 0 {
			t.Fatalf("seed %d: a second collection finds %v", seed, again)
		}
		if rest, _ := garbageOf(left, ts+1); !later && slices.ContainsFunc(rest, func(r gcRecord) bool { return r.kind != kindData }) {
			t.Fatalf("seed %d, safe point %d: nothing is to remove later of %v", seed, p, left)
		}
	}
}

// outlived reports whether nothing needs a record that is not a write, nor the data of one, once no
// transaction below p is open. A rollback record refuses a late lock of its transaction; a record of
// a mere lock tells readers at or below it that their transaction has committed.
func outlived(records []gcRecord, r gcRecord, p uint64) (yes, known bool) {
	switch r.kind {
	case kindRollback:
		return r.ts < p, true
	case kindLockOnly:
		return r.ts <= p, true
	case kindData:
		ofWrite := slices.ContainsFunc(records, func(w gcRecord) bool { return w.kind == kindWrite && w.start == r.ts })
		return r.ts < p, !ofWrite
	}
	return false, false
}

// visible is the write that a reader sees; a deletion is seen as nothing.
func visible(records []gcRecord, ts uint64) (seen gcRecord) {
	for _, r := range records {
		if r.kind == kindWrite && r.ts <= ts && r.ts > seen.ts {
			seen = r
		}
	}
	if seen.op == opDelete {
		return gcRecord{}
	}
	return seen
}
