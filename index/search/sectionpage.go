package search

import (
	"slices"
	"strings"

	"github.com/webindexer/indexer/page"
)

// # Pages of sections
//
// A user who asks for "forms" wants the page about forms, and not one of the many pages below it. That page
// has the address of a directory, and many of the other candidates are in the directory. So it counts more
// if its title agrees with the query. The front page of a site is not such a page (frontpage.go), nor is a
// list of everything that only has the words.

const (
	// sectionMost is the factor for the page of a section.
	sectionMost = 1.3
	// sectionPages is the least number of other candidates in the directory.
	sectionPages = 3
	// sectionNames is the least agreement of its title with the query.
	sectionNames = 0.4
	// If any title agrees with the query by sectionAsked or more, the user wants that page, and not a
	// section.
	sectionAsked = 0.8
)

// preferSectionPages raises the scores of pages of sections.
func (s *search) preferSectionPages(top []candidate) {
	if slices.ContainsFunc(top, func(c candidate) bool { return c.titleMatch >= sectionAsked }) {
		return
	}
	raised := false
	for i := range top {
		c := &top[i]
		dir, ok := directoryOf(c.url)
		if !ok || c.front || c.titleMatch < sectionNames || pagesBelow(dir, top) < sectionPages {
			continue
		}
		c.sectionFactor = sectionMost
		c.score *= sectionMost
		raised = true
	}
	if raised {
		sortCandidates(top)
	}
}

// directoryOf returns the address of the directory that a page describes. It returns none for the
// root of a site.
func directoryOf(u page.URL) (dir string, ok bool) {
	dir = strings.TrimSuffix(string(u), "index.html")
	return dir, strings.HasSuffix(dir, "/") && u.Path() != "/" && u.Path() != "/index.html"
}

// pagesBelow counts the other candidates in a directory.
func pagesBelow(dir string, list []candidate) (n int) {
	for i := range list {
		if u := string(list[i].url); strings.HasPrefix(u, dir) && u != dir && u != dir+"index.html" {
			n++
		}
	}
	return n
}
