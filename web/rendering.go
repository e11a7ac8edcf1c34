package web

import (
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
)

// Renderings are the stored renderings of the page, newest first, if there are several.
func (p *documentPage) Renderings() []renderedVersion {
	var list []renderedVersion
	if p.Rendering == nil || len(p.Rendering.Versions) < 2 {
		return nil
	}
	last := uint64(0) // the last timestamp at which a rendering was in force; 0 is now
	for i, v := range p.Rendering.Versions {
		row := renderedVersion{RenderedVersion: v, First: i == len(p.Rendering.Versions)-1, Causes: v.Changed[:min(len(v.Changed), maxCauses)]}
		row.MoreCauses = len(v.Changed) - len(row.Causes)
		if !row.First && v.Readable && p.Rendering.Versions[i+1].Readable {
			row.Compare = compareLink(p.URL, v.TS-1, last)
		}
		list = append(list, row)
		last = v.TS - 1
	}
	return list
}

// renderedVersion is a rendering as the page lists it.
type renderedVersion struct {
	inspect.RenderedVersion
	First      bool       // of those that are listed
	Causes     []page.URL // the first resources that had changed
	MoreCauses int
	Compare    string // the address of the comparison with the previous rendering; "" if there is none
}

// maxCauses is how many changed resources a rendering names.
const maxCauses = 3

// Picture is the address of the screenshot that belongs to the state that the page shows; "" if
// there is none.
func (p *documentPage) Picture() string {
	if p.Rendering == nil || p.Rendering.Screenshot == 0 {
		return ""
	}
	return pictureLink(p.URL, p.At())
}

// maxResources is how many resources a page lists.
const maxResources = 100

// ShownResources are the first resources of the page.
func (p *documentPage) ShownResources() []inspect.Resource {
	return p.Rendering.Resources[:min(len(p.Rendering.Resources), maxResources)]
}

// MoreResources is how many resources are not listed.
func (p *documentPage) MoreResources() int { return max(len(p.Rendering.Resources)-maxResources, 0) }
