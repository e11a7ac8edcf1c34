package web

import (
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/search"
)

// facetView is a property by which the page offers to narrow the results.
type facetView struct {
	Name   string
	Values []facetValue
}

// facetValue is a value of it. The link of a chosen value removes the filter.
type facetValue struct {
	Name, Link string
	Documents  int
	AtLeast    bool
	Chosen     bool
}

// pageTypes are endings of URLs that only say how a site generates its pages, so they are
// useless as a filter.
var pageTypes = strings.Fields("html htm xhtml shtml php php3 asp aspx jsp jsf do action cgi pl cfm")

// formats is the file types, if any of them differs from the others for a reader.
func formats(types []search.Facet) []search.Facet {
	if slices.ContainsFunc(types, func(f search.Facet) bool { return !slices.Contains(pageTypes, f.Value) }) {
		return types
	}
	return nil
}

// facetsOf lists the properties that divide the results, and those of the filters in force.
func facetsOf(f *search.Facets, asked searchParams) (list []facetView) {
	if f == nil {
		return nil
	}
	same := func(s string) string { return clean(s, maxShown) }
	for _, kind := range []struct {
		name   string
		values []search.Facet
		field  func(*searchParams) *string
		shown  func(string) string
	}{
		{"Site", f.Sites, func(p *searchParams) *string { return &p.Site }, same},
		{"Language", f.Languages, func(p *searchParams) *string { return &p.Lang }, languageName},
		{"Year", f.Years, func(p *searchParams) *string { return &p.Year }, same},
		{"Type", formats(f.Types), func(p *searchParams) *string { return &p.Type }, strings.ToUpper},
	} {
		narrowed := func(value string) string {
			other := asked
			*kind.field(&other) = value
			return other.link()
		}
		v := facetView{Name: kind.name}
		if chosen := *kind.field(&asked); chosen != "" {
			v.Values = append(v.Values, facetValue{Name: kind.shown(chosen), Link: narrowed(""), Chosen: true})
		} else if len(kind.values) > 1 {
			for _, value := range kind.values {
				v.Values = append(v.Values, facetValue{Name: kind.shown(value.Value), Link: narrowed(value.Value), Documents: value.Documents, AtLeast: f.AtLeast})
			}
		}
		if len(v.Values) > 0 {
			list = append(list, v)
		}
	}
	return list
}
