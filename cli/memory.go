package cli

import (
	"os"
	"runtime/debug"
)

// limitMemory makes the collector work harder near a bound, in MiB. Without one
// the heap may double between collections: a replay of t0 of the corpus peaked at
// 950 MiB resident, with 500 MiB at 580, in the same time.
func limitMemory(mib int) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(mib) << 20)
	}
}
