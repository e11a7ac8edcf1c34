package page

import (
	"bytes"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// For an end tag, x/net/html goes through the open elements to find its own. It takes 20 ns for each of up to
// deepest, which is two to three seconds for a mebibyte of end tags that have no element.

// deepest is how deep elements may be nested in a tree of x/net/html.
const deepest = 512

// mostSteps is how many elements x/net/html may go through for a page. Those of real pages are some twenty for an end tag.
func mostSteps(body []byte) int { return 16 * (smallPage + len(body)) }

// searchesStart reports whether x/net/html may go through more elements. Most pages have too few end tags for that.
func searchesStart(body []byte) bool {
	left := mostSteps(body)
	if bytes.Count(body, []byte("</"))*deepest <= left {
		return false
	}
	var o openElements
	z := html.NewTokenizer(bytes.NewReader(body))
	for o.steps <= left {
		switch z.Next() {
		case html.ErrorToken:
			return false
		case html.StartTagToken:
			name, _ := z.TagName()
			o.start(atom.String(name))
		case html.EndTagToken:
			name, _ := z.TagName()
			o.end(atom.String(name))
		}
	}
	return true
}

// openElements estimates the steps of a page. It has the elements whose end tags have not been read, but not those that
// may be ended or ignored without one, such as <p> and <tr>: an end tag of these counts as one that goes through all elements.
type openElements struct {
	steps int
	names []string // "" for one that may have been ended by the end of another
}

func (o *openElements) start(name string) {
	a := atom.Lookup([]byte(name))
	if isVoid(a) || mayHaveNoEnd(a) {
		return
	}
	if o.names = append(o.names, name); len(o.names) > deepest {
		o.names = o.names[1:]
	}
}

func (o *openElements) end(name string) {
	i := len(o.names) - 1
	for i >= 0 && o.names[i] != name {
		i--
	}
	if i < 0 {
		o.steps += len(o.names)
		return
	}
	o.steps += len(o.names) - i
	clear(o.names[i+1:])
	o.names = slices.Delete(o.names, i, i+1)
}

// mayHaveNoEnd reports whether an element may have no end tag, or no element for its tags.
func mayHaveNoEnd(a atom.Atom) bool {
	switch a {
	case atom.Html, atom.Head, atom.Body, atom.Frameset, atom.P, atom.Li, atom.Dd, atom.Dt, atom.Option, atom.Optgroup, atom.Rb, atom.Rp, atom.Rt,
		atom.Rtc, atom.Caption, atom.Colgroup, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th:
		return true
	}
	return false
}
