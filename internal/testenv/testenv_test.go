package testenv_test

import (
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

func TestSeeds(t *testing.T) {
	for _, tt := range []struct {
		env      string
		first, n uint64
		want     []uint64
	}{
		{"", 0, 3, []uint64{0, 1, 2}},
		{"", 7, 2, []uint64{7, 8}},
		{"", 7, 0, nil},
		{"42", 7, 2, []uint64{42}},
	} {
		t.Setenv("INDEXER_SEED", tt.env)
		if got := slices.Collect(testenv.Seeds(t, tt.first, tt.n)); !slices.Equal(got, tt.want) {
			t.Errorf("INDEXER_SEED=%s, %d seeds from %d: %v, want %v", tt.env, tt.n, tt.first, got, tt.want)
		}
	}
}

// TestRandomRepeats draws the same numbers from the same seed.
func TestRandomRepeats(t *testing.T) {
	t.Setenv("INDEXER_SEED", "5")
	if a, b := testenv.Random(t).Uint64(), testenv.Random(t).Uint64(); a != b {
		t.Errorf("%d and %d from one seed", a, b)
	}
}

// TestFresh gives a test one seed for each text, and other tests other seeds.
func TestFresh(t *testing.T) {
	t.Setenv("INDEXER_SEEDS", "a tree")
	seed := testenv.Fresh(t)
	if again := testenv.Fresh(t); again != seed {
		t.Errorf("%d and %d for one text and test", seed, again)
	}
	t.Run("of another test", func(t *testing.T) {
		if other := testenv.Fresh(t); other == seed {
			t.Errorf("%d for both tests", seed)
		}
	})
	t.Setenv("INDEXER_SEEDS", "another tree")
	if other := testenv.Fresh(t); other == seed {
		t.Errorf("%d for both texts", seed)
	}
	t.Setenv("INDEXER_SEEDS", "")
	if a, b := testenv.Fresh(t), testenv.Fresh(t); a == b {
		t.Errorf("%d in two runs", a)
	}
}
