package web

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/web/assets"
)

// sectionView is a section of a page, as its result shows it.
type sectionView struct{ Link, Title string }

// alsoView is a page that is folded into a result, as the result shows it.
type alsoView struct{ Link, Name, Label string }

// Bounds of what is listed under a result.
const (
	maxAlso    = 20
	alsoLabels = 3 // in the line that opens the list
)

// nameOf is what a page is called: its title or, without one, its URL.
func nameOf(title string, u page.URL) string {
	return cmp.Or(clean(title, maxTitle), clean(string(u), maxShown))
}

// Name is what the page of the result is called.
func (h hitView) Name() string { return nameOf(h.Hit.Title, h.Hit.URL) }

// showSections lists the sections of the page, and makes the result lead to the one that
// answers the query.
func (h *hitView) showSections() {
	for _, s := range h.Hit.Sections {
		fragment, ok := strings.CutPrefix(s.URL, string(h.Hit.URL)+"#")
		if h.Link == "" || !ok {
			continue
		}
		view := sectionView{href(h.Hit.URL) + "#" + fragment, clean(s.Title, maxAnchor)}
		if s.Answers {
			h.Section, h.Link = &view, view.Link
		} else {
			h.Sections = append(h.Sections, view)
		}
	}
}

// documentFormats are the endings of URLs of documents that are not HTML, which a browser may be
// unable to show.
var documentFormats = []string{"PDF", "DOCX", "XLSX", "PPTX", "ODT", "ODS", "ODP"}

// Format names the format of an office or PDF document, "" for other pages. It comes from the URL,
// as file types do: the media type is not in the index.
func (h hitView) Format() string {
	ending := strings.ToUpper(strings.TrimPrefix(path.Ext(h.Hit.URL.Path()), "."))
	if !slices.Contains(documentFormats, ending) {
		return ""
	}
	return ending
}

// showAlso lists the pages that are folded into the result.
func (h *hitView) showAlso() {
	for i, a := range h.Hit.Also {
		if i == maxAlso {
			h.MoreAlso = len(h.Hit.Also) - maxAlso
			break
		}
		h.Also = append(h.Also, alsoView{href(page.URL(a.URL)), nameOf(a.Title, page.URL(a.URL)), alsoLabel(a.Label)})
	}
}

// alsoLabel names the languages in a label, such as "1.25, de".
func alsoLabel(label string) string {
	parts := strings.Split(label, ", ")
	for i, part := range parts {
		if base, _, _ := strings.Cut(part, "-"); languageNames[base] != "" {
			parts[i] = languageName(part)
		}
	}
	return clean(strings.Join(parts, ", "), maxAnchor)
}

// AlsoSummary names the first versions and translations that are folded into the result, and
// says how many more pages there are.
func (h hitView) AlsoSummary() string {
	var labels []string
	for _, a := range h.Also {
		label := strings.ReplaceAll(a.Label, ", ", " ") // "2.4 German, 2.2 French"
		if label != "" && len(labels) < alsoLabels && !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	left := len(h.Hit.Also) - len(labels)
	switch {
	case len(labels) == 0 && h.onlySimilar():
		return assets.Plural(left, "similar page", "similar pages")
	case len(labels) == 0:
		return assets.Plural(left, "other version", "other versions")
	case left > 0:
		return "Also in " + strings.Join(labels, ", ") + " and " + assets.Number(left) + " more"
	}
	return "Also in " + strings.Join(labels, ", ")
}

// onlySimilar reports whether nothing but similar pages is folded into the result.
func (h hitView) onlySimilar() bool {
	return !slices.ContainsFunc(h.Hit.Also, func(a search.Also) bool { return !a.Similar })
}
