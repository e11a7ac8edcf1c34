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
			switch rng.IntN(5) {
			case 0:
				records = append(records, gcRecord{kind: kindWrite, ts: ts, start: start, op: opDelete})
			case 1:
				records = append(records, gcRecord{kind: kindRollback, ts: start})
			case 2:
				records = append(records, gcRecord{kind: kindLockOnly, ts: ts, start: start, op: opLock})
			case 3:
				records = append(records, gcRecord{kind: kindData, ts: start}, gcRecord{kind: kindWrite, ts: ts, start: start})
			default:
				records = append(records, gcRecord{kind: kindWrite, ts: ts, start: start})
			}
			ts++
		}
		rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		p := 9 + rng.Uint64N(ts-8)
		dead, _ := garbageOf(records, p)
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
		if again, _ := garbageOf(slices.DeleteFunc(slices.Clone(records), func(r gcRecord) bool { return slices.Contains(dead, r) }), p); len(again) > 0 {
			t.Fatalf("seed %d: a second collection finds %v", seed, again)
		}
	}
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
