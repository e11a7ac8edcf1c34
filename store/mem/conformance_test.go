package mem_test

import (
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/store/storetest"
)

func opener(opts mem.Options) storetest.Opener {
	return func(t testing.TB, groups []store.GroupSpec) store.Table {
		t.Helper()
		table, err := mem.New(groups, opts)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
}

func TestConformance(t *testing.T) { storetest.Run(t, opener(mem.Options{})) }

func TestConformanceTwoPhaseOnly(t *testing.T) {
	storetest.Run(t, opener(mem.Options{TwoPhaseOnly: true}))
}

func Benchmark(b *testing.B) { storetest.Bench(b, opener(mem.Options{})) }
