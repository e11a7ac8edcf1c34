package page

import "golang.org/x/net/html"

// rawAlternate is a translation whose reference is not resolved yet.
type rawAlternate struct{ language, ref string }

// maxAlternateRefs bounds what is remembered before references are resolved.
const maxAlternateRefs = 4 * MaxAlternates

// readAlternate takes a <link> or <a> with rel=alternate and hreflang.
func (d *directives) readAlternate(n *html.Node) {
	if len(d.alternates) == maxAlternateRefs {
		return
	}
	language, ok := attribute(n, "hreflang")
	if !ok {
		return
	}
	if rel, _ := attribute(n, "rel"); !hasToken(rel, "alternate") {
		return
	}
	ref, ok := attribute(n, "href")
	if tag := normaliseLanguage(language); ok && tag != "" { // x-default is not a language
		d.alternates = append(d.alternates, rawAlternate{tag, ref})
	}
}

// alternatesOf resolves alternates. Of several for a language, the first one counts.
func alternatesOf(base *Resolver, raw []rawAlternate) []Alternate {
	var list []Alternate
	known := make(map[string]bool, len(raw))
	for _, r := range raw {
		u, err := base.Resolve(r.ref)
		if err != nil || known[r.language] || len(list) == MaxAlternates {
			continue
		}
		known[r.language] = true
		list = append(list, Alternate{r.language, u})
	}
	return list
}
