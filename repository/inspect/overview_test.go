package inspect_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
)

// crowd returns a page with copies on other hosts, and many pages that link to the copies.
func crowd(copies, sources int) (hub page.URL, fetches []page.Fetch) {
	add := func(u, body string) {
		fetches = append(fetches, page.Fetch{
			URL: page.MustParseURL(u), Time: time.Unix(1e9, 0).UTC(), Status: http.StatusOK,
			Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body),
		})
	}
	for n := range copies {
		add(fmt.Sprintf("https://c%02d.example/", n), "<title>Hub</title><p>Everybody knows it, and everybody says so, again and again.")
	}
	for n := range sources {
		add(fmt.Sprintf("https://s%02d.example/", n), fmt.Sprintf(`<title>Source %d</title><p>The words of source number %d are its own: <a href="https://c%02d.example/">the hub</a> <a href="https://c%02d.example/">says %d</a>`, n, n, n%copies, n%copies, n))
	}
	return "https://c00.example/", fetches
}

// Window after window shows each entry once, up to the last one, however much an overview
// reads of the lists. The order is that of URL if all members are read. Totals are exact, or
// marked as estimates.
func TestWindowsOfAnOverview(t *testing.T) {
	const copies, sources = 11, 30
	hub, fetches := crowd(copies, sources)
	r := opened(t, repository.Options{}, fetches...)
	whole, err := inspect.URL(t.Context(), r, hub, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Members) != copies || len(whole.Inlinks) != 2*sources {
		t.Fatalf("%d members, %d inlinks", len(whole.Members), len(whole.Inlinks))
	}
	for _, bounds := range []struct{ inlinks, members int }{{0, 0}, {10_000, copies}, {5, 10_000}, {10_000, copies - 1}, {5, 3}, {-1, -1}} {
		for _, size := range []int{1, 7, 25, 1000} {
			t.Run(fmt.Sprintf("%d inlinks %d members by %d", bounds.inlinks, bounds.members, size), func(t *testing.T) {
				opts := inspect.OverviewOptions{CountInlinks: bounds.inlinks, ListMembers: bounds.members}
				members, inlinks := turnPages(t, r, hub, opts, size, len(whole.Inlinks))
				if bounds.members != 0 && bounds.members < copies { // in the order of preference
					slices.Sort(members)
					slices.SortFunc(inlinks, byText)
					slices.SortFunc(whole.Inlinks, byText)
				}
				if !slices.Equal(members, whole.Members) {
					t.Errorf("members %q\nwant %q", members, whole.Members)
				}
				if !slices.Equal(inlinks, whole.Inlinks) {
					t.Errorf("inlinks %q\nwant %q", inlinks, whole.Inlinks)
				}
			})
			if whole, err = inspect.URL(t.Context(), r, hub, inspect.Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func byText(a, b observers.Inlink) int {
	return slices.Compare([]string{string(a.Target), string(a.Source), a.Anchor}, []string{string(b.Target), string(b.Source), b.Anchor})
}

// turnPages reads members and inlinks by windows.
func turnPages(t *testing.T, r *repository.Repository, u page.URL, opts inspect.OverviewOptions, size, all int) (members []page.URL, inlinks []observers.Inlink) {
	t.Helper()
	for offset := 0; ; offset += size {
		w := inspect.Window{Offset: offset, Limit: size}
		opts.Windows = inspect.Windows{Members: w, Inlinks: w, Outlinks: w}
		o, err := inspect.ReadOverview(t.Context(), r, u, opts)
		if err != nil {
			t.Fatal(err)
		}
		if o.InlinksTotal != all { // the export also counted them all
			t.Errorf("from %d: %d inlinks, about: %v", offset, o.InlinksTotal, o.InlinksAbout)
		}
		if o.InlinksAbout && offset+size >= all {
			t.Errorf("from %d: the last are shown, and their number is not known", offset)
		}
		if o.Canonical != u || !o.Indexed {
			t.Errorf("the canonical URL is %s", o.Canonical)
		}
		members, inlinks = append(members, o.Members...), append(inlinks, o.Inlinks...)
		if len(o.Members) == 0 && len(o.Inlinks) == 0 {
			return members, inlinks
		}
	}
}

// The chain of a URL passes through a loop once.
func TestChainWithALoop(t *testing.T) {
	redirect := func(from, to page.URL) page.Fetch {
		return page.Fetch{URL: from, Time: time.Unix(1e9, 0).UTC(), Status: http.StatusFound, Header: http.Header{"Location": {string(to)}}}
	}
	const in, a, b = page.URL("https://in.example/"), page.URL("https://a.example/"), page.URL("https://b.example/")
	r := opened(t, repository.Options{}, redirect(in, a), redirect(a, b), redirect(b, a))
	o, err := inspect.ReadOverview(t.Context(), r, in, inspect.OverviewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []page.URL{in, a, b}; !slices.Equal(o.Chain, want) {
		t.Errorf("the chain is %q, want %q", o.Chain, want)
	}
}
