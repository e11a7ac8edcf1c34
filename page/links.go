package page

import (
	"cmp"
	"slices"

	"golang.org/x/net/html"
)

// rawLink is a link whose reference is not resolved yet, because a <base> may still
// follow.
type rawLink struct {
	ref, anchor string
}

// countingLinks resolves the links of the page at self and drops the links that do not
// count: targets that are not http or https URLs, links to the page itself, and
// repetitions of a target with the same anchor. It clears raw as it goes.
func countingLinks(self URL, base *Resolver, raw []rawLink) []Link {
	if len(raw) == 0 {
		return nil
	}
	links := make([]Link, 0, len(raw))
	for i, r := range raw {
		raw[i] = rawLink{}
		target, err := base.Resolve(r.ref)
		if err != nil || target == self {
			continue
		}
		links = append(links, Link{Target: target, Anchor: r.anchor})
	}
	return distinct(links)
}

// distinct drops repetitions of links, in place. It sorts indexes, which take a tenth of
// the memory of a map of the links.
func distinct(links []Link) []Link {
	order := make([]int32, len(links))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &links[i], &links[j]
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Anchor, b.Anchor), cmp.Compare(i, j))
	})
	again := make([]bool, len(links))
	for k := 1; k < len(order); k++ {
		again[order[k]] = links[order[k]] == links[order[k-1]]
	}
	kept := links[:0]
	for i, l := range links {
		if !again[i] {
			kept = append(kept, l)
		}
	}
	return kept
}

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
