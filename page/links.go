package page

import (
	"hash/maphash"
	"math/bits"

	"golang.org/x/net/html"
)

// rawLink is a link whose reference is not resolved yet, because a <base> may still
// follow.
type rawLink struct {
	ref, anchor string
}

// maxLinkBytes bounds the links of a page: as they are written, with their anchors, and their targets.
// A million links of a usual length have a quarter of it. Without a bound, a <base> of 8 KB would
// make 18 GB of the short links that fit into 32 MiB of HTML, and links in links would have 4 GB of
// anchors.
const maxLinkBytes = 256 << 20

// countingLinks resolves the links of the page at self and drops the links that do not
// count: targets that are not http or https URLs, links to the page itself, repetitions of a
// target with the same anchor, and what comes after mostBytes of targets. It clears raw as it goes.
func countingLinks(self URL, base *Resolver, raw []rawLink, mostBytes int) []Link {
	if len(raw) == 0 {
		return nil
	}
	links := make([]Link, 0, len(raw))
	size := 0
	for i, r := range raw {
		raw[i] = rawLink{}
		target, err := base.Resolve(r.ref)
		if err != nil || target == self {
			continue
		}
		if size += len(target); size > mostBytes {
			break
		}
		links = append(links, Link{Target: target, Anchor: r.anchor})
	}
	return distinct(links)
}

// distinct drops repetitions of links, in place. Its table of indexes takes a tenth of the
// memory of a map of the links.
func distinct(links []Link) []Link {
	if len(links) < 2 {
		return links
	}
	slots := make([]int32, 1<<bits.Len(uint(2*len(links)))) // at most half of them are taken
	mask := uint64(len(slots) - 1)
	kept := links[:0]
	for _, l := range links {
		slot := maphash.String(linkSeed, string(l.Target)) ^ 3*maphash.String(linkSeed, l.Anchor)
		for slot &= mask; slots[slot] != 0 && kept[slots[slot]-1] != l; slot = (slot + 1) & mask {
		}
		if slots[slot] == 0 {
			kept = append(kept, l)
			slots[slot] = int32(len(kept)) // one more than the index
		}
	}
	return kept
}

// linkSeed is random, so that no page can make its links collide.
var linkSeed = maphash.MakeSeed()

// follows reports whether an element's rel lets its link count.
func follows(n *html.Node) bool {
	rel, _ := attribute(n, "rel")
	return !hasToken(rel, "nofollow") && !hasToken(rel, "ugc") && !hasToken(rel, "sponsored")
}

// attribute returns the value of n's attribute with that name.
func attribute(n *html.Node, name string) (value string, ok bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == name && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}
