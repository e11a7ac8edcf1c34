package repository_test

import (
	"context"
	"testing"
	"time"

	"github.com/webindexer/indexer/repository"
)

// BenchmarkRanks replays recorded crawls with ranks and without, in turn, and reports
// the processor time that each takes and the ratio of the throughputs: of what a
// machine that does nothing else would load in the same time.
func BenchmarkRanks(b *testing.B) {
	files := corpusFiles(b, "t0")
	for b.Loop() {
		var cpu [2]time.Duration
		for i, without := range []bool{true, false} {
			before := processorTime(b)
			r, err := repository.Open(context.Background(), b.TempDir(), repository.Options{WithoutRanks: without})
			if err != nil {
				b.Fatal(err)
			}
			replay(b, r, 4, files...)
			cpu[i] = processorTime(b) - before
			for _, o := range r.Live().Observers {
				b.Logf("without ranks: %t: %+v", without, o)
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(cpu[0].Seconds(), "cpu-s/without")
		b.ReportMetric(cpu[1].Seconds(), "cpu-s/with")
		b.ReportMetric(cpu[0].Seconds()/cpu[1].Seconds(), "throughput-ratio")
	}
}
