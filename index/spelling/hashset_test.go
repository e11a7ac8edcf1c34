package spelling

import (
	"math/rand/v2"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestHashSet compares with a map.
func TestHashSet(t *testing.T) {
	for seed := range testenv.Seeds(t, 0, 20) {
		random := rand.New(rand.NewPCG(seed, 1))
		var set hashSet
		model := make(map[uint64]bool)
		hash := func() uint64 { return (random.Uint64N(3000) * 0x9e3779b97f4a7c15) &^ 3 }
		for range 4000 {
			h, stored := hash(), random.IntN(3) == 0
			set.put(h, stored)
			model[h] = model[h] || stored
			if random.IntN(1000) == 0 {
				set = set.onlyStored()
				for h, stored := range model {
					if !stored {
						delete(model, h)
					}
				}
			}
			if set.used != len(model) {
				t.Fatalf("seed %d: %d hashes, want %d", seed, set.used, len(model))
			}
		}
		stored := 0
		for range 10000 {
			h := hash()
			want, has := model[h]
			if gotHas, got := set.get(h); gotHas != has || got != want {
				t.Fatalf("seed %d: %x is there %t, stored %t; want %t, %t", seed, h, gotHas, got, has, want)
			}
		}
		for _, s := range model {
			if s {
				stored++
			}
		}
		if set.stored != stored {
			t.Fatalf("seed %d: %d stored, want %d", seed, set.stored, stored)
		}
	}
}
