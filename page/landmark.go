package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// landmark is the part that an element plays on its page.
type landmark uint8

const (
	notContainer landmark = iota // an element that does not matter here
	container                    // may be a list of links
	mainLandmark
	articleLandmark
	restLandmark     // says that it is not content
	doubtfulLandmark // probably not content
)

// landmarkOf says what an element is, from its ARIA role, from what HTML says about elements
// of its name, and from the names that authors give to parts of pages. An element in main
// content has a header and asides of its own, which belong to it.
func landmarkOf(n *html.Node, inMain bool) landmark {
	if n.Namespace != "" {
		return notContainer
	}
	kind := byName(n.DataAtom, inMain)
	if kind == notContainer {
		return kind
	}
	named := false
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "role":
			if role := byRole(a.Val, inMain); role != notContainer {
				return role
			}
		case "class", "id":
			named = named || isNamedRest(a.Val)
		case "aria-hidden":
			named = named || a.Val == "true"
		}
	}
	if named && kind == container {
		return doubtfulLandmark
	}
	return kind
}

// byName returns what the standard says about an element ("HTML Accessibility API Mappings").
func byName(a atom.Atom, inMain bool) landmark {
	switch a {
	case atom.Main:
		return mainLandmark
	case atom.Article:
		return articleLandmark
	case atom.Nav, atom.Menu, atom.Dialog, atom.Footer:
		return restLandmark
	case atom.Header, atom.Aside:
		if inMain {
			return container
		}
		return doubtfulLandmark
	case atom.Div, atom.Ul, atom.Ol, atom.Dl, atom.Dir, atom.Table, atom.Tbody, atom.Td, atom.Section,
		atom.Center, atom.Form, atom.Fieldset, atom.Details, atom.P, atom.Span:
		return container
	}
	return notContainer
}

// byRole returns what an ARIA role says, notContainer if nothing.
func byRole(role string, inMain bool) landmark {
	switch strings.ToLower(strings.Trim(role, htmlSpace)) {
	case "main":
		return mainLandmark
	case "article":
		return articleLandmark
	case "navigation", "contentinfo", "search", "menu", "menubar", "toolbar", "tablist", "tree", "directory",
		"dialog", "alertdialog", "doc-toc", "doc-index", "doc-pagelist":
		return restLandmark
	case "banner", "complementary":
		if !inMain {
			return doubtfulLandmark
		}
	}
	return notContainer
}

// restNames are names that authors all over the web give to parts of pages that are not
// content, and that lists of such names in other programs have (Readability, boilerpipe).
// They are compared with the words of class and id.
var restNames = map[string]bool{
	"nav": true, "navbar": true, "navigation": true, "subnav": true, "topnav": true, "bottomnav": true, "sidenav": true, "navheader": true, "navfooter": true,
	"menu": true, "submenu": true, "sidebar": true, "sphinxsidebar": true, "footer": true, "toc": true, "breadcrumb": true, "breadcrumbs": true,
	"crumbs": true, "pagination": true, "pager": true, "related": true, "share": true, "social": true, "cookie": true, "cookies": true,
	"skip": true, "skiplink": true, "toolbar": true, "copyright": true,
}

// isNamedRest reports whether a class or id has such a name among its words: those between
// spaces, and their parts between hyphens, underscores and changes of case.
func isNamedRest(names string) bool {
	var word [16]byte
	n := 0
	for i := 0; i <= len(names); i++ {
		c := byte(' ')
		if i < len(names) {
			c = names[i]
		}
		upper := 'A' <= c && c <= 'Z'
		if !isAlnum(c) || upper && i > 0 && 'a' <= names[i-1] && names[i-1] <= 'z' {
			if n <= len(word) && restNames[string(word[:n])] {
				return true
			}
			n = 0
			if !upper {
				continue
			}
		}
		if upper {
			c += 'a' - 'A'
		}
		if n < len(word) {
			word[n] = c
		}
		n++
	}
	return false
}
