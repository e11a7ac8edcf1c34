package cli

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/webindexer/indexer/repository/inspect"
)

// TestManyAnchors: the line of a page with very many anchors takes memory in proportion to its length,
// and so does the time.
func TestManyAnchors(t *testing.T) {
	p := inspect.PageLinks{URL: "https://a.example/"}
	for i := range 20_000 {
		p.Anchors = append(p.Anchors, fmt.Sprint("anchor ", i))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line := pageLinksText(p)
	runtime.ReadMemStats(&after)
	if n, most := after.TotalAlloc-before.TotalAlloc, uint64(20*len(line)); n > most {
		t.Errorf("%d bytes were allocated for a line of %d bytes, more than %d", n, len(line), most)
	}
}
