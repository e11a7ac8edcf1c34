package partition

import (
	"fmt"
	"testing"
)

// TestOf: hosts of one registrable domain, or at one address, are in one partition.
func TestOf(t *testing.T) {
	for _, same := range [][]string{
		{"https://example.com", "http://example.com", "https://www.example.com:8443", "https://a.b.example.com"},
		{"http://127.0.0.1:80", "https://127.0.0.1", "http://127.0.0.1:8080"},
		{"https://[2001:db8::1]", "http://[2001:db8::1]:8080"},
		{"http://localhost:1", "http://localhost:2"},
	} {
		for _, host := range same[1:] {
			if Of(host) != Of(same[0]) {
				t.Errorf("%s and %s are in the partitions %d and %d", same[0], host, Of(same[0]), Of(host))
			}
		}
	}
	count := make(map[int]int)
	for i := range 10 * Count {
		count[Of(fmt.Sprintf("https://www.site%d.example", i))]++
	}
	if len(count) < Count*9/10 {
		t.Errorf("%d hosts are in %d partitions", 10*Count, len(count))
	}
}

// TestOwner: shares are about equal, and a crawler that joins or leaves moves only its
// own partitions.
func TestOwner(t *testing.T) {
	if Owner(nil, 1) != "" {
		t.Error("nobody owns a partition")
	}
	var crawlers []string
	before := make([]string, Count)
	for n := range 8 {
		joined := fmt.Sprint("crawler ", n+1)
		crawlers = append([]string{joined}, crawlers...)
		share := make(map[string]int)
		for p := range Count {
			owner := Owner(crawlers, p)
			share[owner]++
			if owner != before[p] && owner != joined {
				t.Errorf("partition %d moved from %s to %s when %s joined", p, before[p], owner, joined)
			}
			before[p] = owner
		}
		for _, c := range crawlers {
			if mean := Count / len(crawlers); share[c] < mean/2 || share[c] > mean*2 {
				t.Errorf("%s has %d partitions, and the mean is %d", c, share[c], mean)
			}
		}
	}
}
