package convert

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/requests"
)

// area is a part of a page that leads to a URL.
type area struct {
	box
	target string
}

// linkAreas reads the links of a page that lead to URLs.
func (r *reader) linkAreas(page requests.Page) ([]area, error) {
	var areas []area
	for at := 0; r.links < maxLinks; {
		r.links++
		next, err := r.pdf.FPDFLink_Enumerate(&requests.FPDFLink_Enumerate{Page: page, StartPos: at})
		if err != nil || next.Link == nil || next.NextStartPos == nil || *next.NextStartPos <= at {
			return areas, onlyFault(err)
		}
		at = *next.NextStartPos
		action, err := r.pdf.FPDFLink_GetAction(&requests.FPDFLink_GetAction{Link: *next.Link})
		if isFault(err) {
			return nil, err
		} else if err != nil || action.Action == nil {
			continue
		}
		uri, err := r.pdf.FPDFAction_GetURIPath(&requests.FPDFAction_GetURIPath{Document: r.doc, Action: *action.Action})
		if isFault(err) {
			return nil, err
		} else if err != nil || uri.URIPath == nil || *uri.URIPath == "" || !utf8.ValidString(*uri.URIPath) {
			continue
		}
		b, err := r.pdf.FPDFLink_GetAnnotRect(&requests.FPDFLink_GetAnnotRect{Link: *next.Link})
		if isFault(err) {
			return nil, err
		} else if err != nil || b.Rect == nil {
			continue
		}
		x, y := [2]float64{float64(b.Rect.Left), float64(b.Rect.Right)}, [2]float64{float64(b.Rect.Bottom), float64(b.Rect.Top)}
		areas = append(areas, area{box{min(x[0], x[1]), min(y[0], y[1]), max(x[0], x[1]), max(y[0], y[1])}, *uri.URIPath})
	}
	return areas, nil
}

// linksOf returns the parts of the line that lie in areas.
func (l *lineReader) linksOf(where box, areas []area) ([]link, error) {
	middles := []float64(nil) // of the characters
	var links []link
	for _, a := range areas {
		if y := where.middle(); y < a.bottom || y > a.top || where.right < a.left || where.left > a.right {
			continue
		}
		if middles == nil {
			for _, c := range l.chars {
				b, err := l.box(c.index)
				if err != nil {
					return nil, err
				}
				middles = append(middles, (b.left+b.right)/2)
			}
		}
		if next, ok := l.inside(middles, a); ok {
			links = addLink(links, next)
		}
	}
	return links, nil
}

// addLink adds a link to those of a line, which are in the order of the text, unless it overlaps
// another. Documents list links in any order.
func addLink(links []link, next link) []link {
	i, _ := slices.BinarySearchFunc(links, next.from, func(l link, from int) int { return cmp.Compare(l.from, from) })
	if i > 0 && links[i-1].to > next.from || i < len(links) && next.to > links[i].from {
		return links
	}
	return slices.Insert(links, i, next)
}

// inside returns the part of the line from the first to the last character in an area.
func (l *lineReader) inside(middles []float64, a area) (link, bool) {
	from, to, at := -1, 0, 0
	for i, c := range l.chars {
		size := utf8.RuneLen(c.r)
		if c.r != ' ' && middles[i] >= a.left && middles[i] <= a.right {
			if from < 0 {
				from = at
			}
			to = at + size
		}
		at += size
	}
	return link{from, to, a.target}, from >= 0
}
