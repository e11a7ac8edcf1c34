package inspect_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/txn"
)

// A page that links to a document is one entry, however many links it has and whichever
// URLs of the document they lead to, with each anchor once. Every way to list the entries
// gives the same ones, however few it shows at a time.
func TestPagesThatLink(t *testing.T) {
	random := testenv.Random(t)
	r := opened(t, repository.Options{})
	for _, target := range loadLinkedPages(t, random, r) {
		u := page.MustParseURL(target)
		whole, err := inspect.URL(t.Context(), r, u, inspect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := bySource(whole.Inlinks)
		for _, limit := range []int{0, 1, 1 + random.IntN(7)} {
			if got := inPagesBy(t, r, u, limit, len(want), len(whole.Inlinks)); !slices.Equal(got, want) {
				t.Errorf("%s, %d at a time:\n got %q\nwant %q", u, limit, got, want)
			}
		}
		o := overviewOf(t, r, u, inspect.Windows{LinkingPages: inspect.Window{Limit: 1000}})
		if got := textsOf(o.LinkingPages); !slices.Equal(got, want) || o.LinkingPagesTotal != len(want) || len(o.Inlinks) != 0 {
			t.Errorf("the overview of %s has %d: %q\nwant %q", u, o.LinkingPagesTotal, got, want)
		}
		w := inspect.Window{Offset: random.IntN(len(want) + 1), Limit: random.IntN(9)}
		part := overviewOf(t, r, u, inspect.Windows{LinkingPages: w})
		if end := min(w.Offset+w.Limit, len(want)); len(part.LinkingPages) != end-w.Offset {
			t.Errorf("of %d pages the window %+v shows %d", len(want), w, len(part.LinkingPages))
		}
	}
	// The links of a page, likewise.
	o := overviewOf(t, r, "https://source-7.example/", inspect.Windows{Outlinks: inspect.Window{Limit: 1000}, LinkedPages: inspect.Window{Limit: 1000}})
	all := 0
	for _, p := range o.LinkedPages {
		for _, l := range o.Outlinks {
			if l.URL == p.URL {
				all++
				if l.Anchor != "" && !slices.Contains(p.Anchors, l.Anchor) {
					t.Errorf("%s lacks the anchor %q", p.URL, l.Anchor)
				}
			}
		}
	}
	if all != len(o.Outlinks) || o.LinkedPagesTotal != len(o.LinkedPages) {
		t.Errorf("%d links are %d pages of %d links", len(o.Outlinks), o.LinkedPagesTotal, all)
	}
}

// loadLinkedPages loads three URLs of one document, two of another, and pages that link to them at
// random. It returns the five URLs.
func loadLinkedPages(t *testing.T, random *rand.Rand, r *repository.Repository) (targets []string) {
	t.Helper()
	load := func(u, body string) {
		t.Helper()
		f := &page.Fetch{URL: page.MustParseURL(u), Time: time.Unix(1_700_000_000, 0), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
		if _, err := r.Load(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	for doc, urls := range []int{3, 2} {
		for n := range urls {
			u := fmt.Sprintf("https://target.example/%d/%d", doc, n)
			targets = append(targets, u)
			load(u, fmt.Sprintf("<title>Document %d</title><p>%s", doc, strings.Repeat("The text of the document is the same under all of its addresses. ", doc+1)))
		}
	}
	for n := range 40 {
		var b strings.Builder
		fmt.Fprintf(&b, "<title>Page %d</title>", n)
		for range random.IntN(12) {
			fmt.Fprintf(&b, `<a href="%s">%s</a> `, targets[random.IntN(len(targets))], []string{"", "here", "there", "the document"}[random.IntN(4)])
		}
		load(fmt.Sprintf("https://source-%d.example/", n), b.String())
	}
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	return targets
}

func overviewOf(t *testing.T, r *repository.Repository, u page.URL, windows inspect.Windows) *inspect.Overview {
	t.Helper()
	o, err := inspect.ReadOverview(t.Context(), r, u, inspect.OverviewOptions{Windows: windows})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// inPagesBy collects the pages that link to a URL, the given number at a time.
func inPagesBy(t *testing.T, r *repository.Repository, u page.URL, limit, wantPages, wantLinks int) (list []string) {
	t.Helper()
	for after, more := "", true; more; {
		err := inspect.Long(t.Context(), r, u, inspect.Options{Limit: limit, After: after}, func(i *inspect.Inspected, _ *txn.Txn) error {
			pages, links, err := i.LinkTotals()
			if err != nil {
				return err
			}
			if pages != wantPages || links != wantLinks {
				t.Errorf("%s: %d pages by %d links, want %d by %d", u, pages, links, wantPages, wantLinks)
			}
			err = i.EachInPage(func(p inspect.PageLinks) error {
				list = append(list, textsOf([]inspect.PageLinks{p})...)
				return nil
			})
			after = i.Next()
			more = after != ""
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(list)
	return list
}

// bySource groups links as a person would.
func bySource(links []observers.Inlink) []string {
	grouped := make(map[page.URL][]string)
	for _, l := range links {
		anchors := grouped[l.Source]
		if l.Anchor != "" && !slices.Contains(anchors, l.Anchor) {
			anchors = append(anchors, l.Anchor)
		}
		grouped[l.Source] = anchors
	}
	var list []inspect.PageLinks
	for u, anchors := range grouped {
		slices.Sort(anchors)
		list = append(list, inspect.PageLinks{URL: u, Anchors: anchors})
	}
	return textsOf(list)
}

func textsOf(list []inspect.PageLinks) []string {
	var texts []string
	for _, p := range list {
		texts = append(texts, fmt.Sprintf("%s %q", p.URL, p.Anchors))
	}
	slices.SortFunc(texts, cmp.Compare[string])
	return texts
}
