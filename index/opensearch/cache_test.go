package opensearch

import (
	"fmt"
	"strings"
	"testing"
)

// TestContents: what is used stays, what is not used goes, and the size has a bound.
func TestContents(t *testing.T) {
	var c contents
	text := strings.Repeat("x", 1<<20)
	key := func(i int) *record { return &record{Cluster: fmt.Sprint(i), Seq: uint64(i)} }
	for i := range 200 {
		one := &content{about: new(about)}
		if one.texts[0] = text; i%2 > 0 {
			one.texts[0], one.about.Headings = "", text
		}
		c.add(key(i), one)
		if c.get(key(0)) == nil {
			t.Fatalf("what is used all the time is gone after %d", i)
		}
		if c.size > maxContents || len(c.have)+len(c.old) > 2*maxContents>>20 {
			t.Fatalf("%d and %d contents of %d bytes", len(c.have), len(c.old), c.size)
		}
	}
	if c.get(key(1)) != nil {
		t.Error("what is not used is still there")
	}
	if c.get(key(199)) == nil || c.get(&record{Cluster: "199", Seq: 1}) != nil {
		t.Error("a content is found by its cluster and Seq")
	}
}
