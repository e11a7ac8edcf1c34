package search

import (
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// # Pages that say little new
//
// A program that makes a reference from source code makes a page for each method of each class. Such a
// page is a signature and a list of all other methods, and a page of hits may be ten of them:
// whoever has seen one of them has seen nearly everything that the others say. They are no
// versions of each other, and each is what some query asks for, so they are not folded. But a hit that
// says little besides what a hit of the same host above it says, and is not named better for the query,
// moves below the first page, like a hit of a host that has enough of them (diversify.go). Pages that
// say something else take its place.
//
// The whole text is compared, with its menus. Each document has a sample of its shingles (package sketch), so
// nothing else is read. A page with a long main content of its own stays where it is, however long the menus
// are that it shares with others.

const (
	// littleNew is the share of what two pages say that is on both, if the second one says little new. The
	// samples of pages that have four fifths in common may have a little less.
	littleNew = 0.75
	// shortMain is how many bins the sketch of a short main content has: that of some 180 words.
	shortMain = 96
	// mainRepeated is the similarity of a longer main content to that above, if it says little new.
	mainRepeated = 0.5
)

// saysLittleNew reports whether a candidate says little that a hit above it does not say.
func (c *candidate) saysLittleNew(above *candidate) bool {
	if c.host() != above.host() || c.named() > above.named() || c.sketch == nil || above.sketch == nil {
		return false
	}
	return sampleSimilarity(c.sample, above.sample) >= littleNew && (c.bins <= shortMain || sketch.Similar(c.sketch, above.sketch, mainRepeated))
}

// named is how well the page is named for the query, by its title, a heading, or anchors.
func (c *candidate) named() float64 { return max(c.titleMatch, c.anchorMatch) }

// repeated is the first hit of these lists besides which a candidate says little new; "" if there is none.
func (c *candidate) repeated(lists ...[]candidate) page.URL {
	for _, list := range lists {
		for i := range list {
			if c.saysLittleNew(&list[i]) {
				return list[i].url
			}
		}
	}
	return ""
}

// sampleSimilarity estimates the share of the shingles of two texts that both have, by their samples.
func sampleSimilarity(a, b string) float64 {
	shorter, longer := float64(min(len(a), len(b))), float64(max(len(a), len(b)))
	if shorter < littleNew*longer || shorter == 0 { // as little as that, whatever they are
		return 0
	}
	both, either := 0, (len(a)+len(b))/sketch.SlotBytes
	for len(a) >= sketch.SlotBytes && len(b) >= sketch.SlotBytes {
		x, y := uint16(a[0])|uint16(a[1])<<8, uint16(b[0])|uint16(b[1])<<8 // as PackSample writes them
		if x <= y {
			a = a[sketch.SlotBytes:]
		}
		if y <= x {
			b = b[sketch.SlotBytes:]
		}
		if x == y {
			both++
		}
	}
	return float64(both) / float64(either-both)
}
