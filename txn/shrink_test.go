package txn

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
)

// program is a random program: the seed of each step. What a step does depends on its
// seed and on the present state, so any part of a program is a program.
type program []uint64

const programSteps = 200

func newProgram(seed uint64) program {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := make(program, programSteps)
	for i := range p {
		p[i] = rng.Uint64()
	}
	return p
}

// rng is the generator of a step.
func (p program) rng(i int) *rand.Rand {
	if i >= len(p) {
		return rand.New(rand.NewPCG(0, 0))
	}
	return rand.New(rand.NewPCG(p[i], 0))
}

// everyProgram runs programs until one goes wrong, and shows the shortest part of it
// that does, with its seed. INDEXER_SEED=n runs that one alone.
func everyProgram(t *testing.T, n int, run func(program) (wrong, log []string)) {
	t.Helper()
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(n)) {
		p := newProgram(seed)
		wrong, _ := run(p)
		if len(wrong) == 0 {
			continue
		}
		p = p.shrunk(func(p program) bool { wrong, _ := run(p); return len(wrong) > 0 })
		wrong, log := run(p)
		t.Errorf("seed %d, shrunk to %d steps:\n%s\n\nwhat was done:\n%s", seed, len(p), strings.Join(wrong, "\n"), strings.Join(log, "\n"))
		return
	}
}

// shrunk leaves out parts, large ones first, as long as the rest still goes wrong. It begins again
// until each step is needed: a step may become superfluous once another one is gone.
func (p program) shrunk(wrong func(program) bool) program {
	before := len(p)
	for size := len(p) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(p); {
			if shorter := slices.Concat(p[:at], p[at+size:]); wrong(shorter) {
				p = shorter
			} else {
				at += size
			}
		}
	}
	if len(p) < before {
		return p.shrunk(wrong)
	}
	return p
}

// TestShrink breaks the check for newer writes and wants to be shown a lost update
// in a program of a few steps.
func TestShrink(t *testing.T) {
	run := func(p program) (wrong, log []string) {
		synctest.Test(t, func(t *testing.T) {
			wrong, log = runRandom(t, unguarded{openMem(t, Groups("app"))}, TwoPhase, p, true)
		})
		return wrong, log
	}
	rng := testenv.Random(t)
	for range 200 {
		p := newProgram(rng.Uint64())
		if wrong, _ := run(p); len(wrong) == 0 {
			continue
		}
		p = p.shrunk(func(p program) bool { wrong, _ := run(p); return len(wrong) > 0 })
		wrong, log := run(p)
		t.Logf("%d steps:\n%s\n%s", len(p), strings.Join(wrong, "\n"), strings.Join(log, "\n"))
		if len(wrong) == 0 || len(p) > 25 {
			t.Errorf("shrunk to %d steps, which go wrong: %v", len(p), wrong)
		}
		return
	}
	t.Error("no program noticed that writes are not guarded")
}

// unguarded lets a write pass that others have written after its start.
type unguarded struct{ store.Table }

func (u unguarded) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	m.Absent = slices.DeleteFunc(slices.Clone(m.Absent), func(s store.Selector) bool {
		return s.Group == "app" && s.Column[0] == kindWrite
	})
	return u.Table.Mutate(ctx, m)
}
