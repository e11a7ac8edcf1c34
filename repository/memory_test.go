package repository_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/webindexer/indexer/txn"
)

// BenchmarkReplayMemory replays the first recorded crawl of six sites (6,710 URLs,
// 34 MB packed) in a process of its own, which reads the files as it goes, and
// reports the most memory that ever was resident. The bar is 1 GiB.
func BenchmarkReplayMemory(b *testing.B) {
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		b.Run(modeName(mode), func(b *testing.B) {
			files := corpusFiles(b, "t0")
			for b.Loop() {
				s := startChild(b, filepath.Join(b.TempDir(), "data"), streamed+strings.Join(files, ","), mode).listen(moment{})
				if s.failed != "" {
					b.Fatal(s.failed)
				}
				b.ReportMetric(float64(s.rssKiB)/1024, "peak-RSS-MiB")
			}
		})
	}
}
