package webtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
)

// Shrink looks for fewer fetches that still fail, leaving out ever smaller parts
// (delta debugging), for a limited number of tries.
func Shrink(fetches []*page.Fetch, fails func([]*page.Fetch) bool) []*page.Fetch {
	tries := 300
	for part := len(fetches) / 2; part > 0; {
		smaller := false
		for from := 0; from < len(fetches) && tries > 0; {
			without := slices.Concat(fetches[:from], fetches[min(from+part, len(fetches)):])
			tries--
			if fails(without) {
				fetches, smaller = without, true
				continue
			}
			from += part
		}
		if !smaller || part > len(fetches) {
			part /= 2
		}
		if tries <= 0 {
			break
		}
	}
	return fetches
}

// Describe lists fetches, one per line, for the message of a failed test.
func Describe(fetches []*page.Fetch) string {
	var b strings.Builder
	for _, f := range fetches {
		fmt.Fprintf(&b, "%s at %v: status %d revisit %t error %q %v\n\t%s\n",
			f.URL, f.Time.Sub(epoch).Round(time.Nanosecond), f.Status, f.Revisit, f.Err, f.Header, f.Body)
	}
	return b.String()
}
