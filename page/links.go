package page

import "golang.org/x/net/html"

// rawLink is a link as written, before its reference is resolved: a <base> may
// still follow.
type rawLink struct {
	ref, anchor string
}

// countingLinks resolves the links of the page at self and drops those that do
// not count: references to no http or https URL, to the page itself, and those
// alike in target and anchor after the first.
func countingLinks(self URL, base *Resolver, raw []rawLink) []Link {
	if len(raw) == 0 {
		return nil
	}
	links := make([]Link, 0, len(raw))
	seen := make(map[Link]struct{}, len(raw))
	for _, r := range raw {
		target, err := base.Resolve(r.ref)
		if err != nil || target == self {
			continue
		}
		link := Link{Target: target, Anchor: r.anchor}
		if _, dup := seen[link]; dup {
			continue
		}
		seen[link] = struct{}{}
		links = append(links, link)
	}
	return links
}

// follows reports that an element's rel lets its link count.
func follows(n *html.Node) bool {
	rel, _ := attribute(n, "rel")
	return !hasToken(rel, "nofollow") && !hasToken(rel, "ugc") && !hasToken(rel, "sponsored")
}

// attribute is the value of n's attribute of that name.
func attribute(n *html.Node, name string) (value string, ok bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == name && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}
