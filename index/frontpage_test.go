package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// TestFrontPage: the name of a host alone finds its front page first, with more words it is a word
// like others, and no other page of the host, nor an address like the name, gains by it.
func TestFrontPage(t *testing.T) {
	dir := t.TempDir()
	apply(t, openTestWriter(t, dir),
		Upsert(&Document{Cluster: key("front"), Seq: 1, URL: "https://www.widget.example/", Title: "Widget, made by hand since 1950", Text: "Our widget turns."}),
		Upsert(&Document{Cluster: key("manual"), Seq: 1, URL: "https://www.widget.example/manual", Title: "Widget manual", Text: "How a widget turns, and how a widget is mended."}),
		Upsert(&Document{Cluster: key("other"), Seq: 1, URL: "https://press.example/widget", Title: "The widget", Text: "A widget, a widget, a widget."}),
	)
	r := openTestReader(t, dir)
	for query, want := range map[string]string{
		"widget":        "https://www.widget.example/",
		"Widget":        "https://www.widget.example/",
		"widget manual": "https://www.widget.example/manual",
		"the widget":    "https://press.example/widget",
		"press":         "https://press.example/widget",
	} {
		res, err := r.Search(t.Context(), query, search.Options{})
		if err != nil || len(res.Hits) == 0 || string(res.Hits[0].URL) != want {
			t.Errorf("%q: %+v, %v; want %s first", query, res.Hits, err, want)
		}
	}
}

// TestDirectoryOfOnePage: a page with a short address of its own is not the front page of a site
// whose root is unknown, whatever the rest of the site is.
func TestDirectoryOfOnePage(t *testing.T) {
	dir := t.TempDir()
	doc := func(u, title, text string) Change {
		return Upsert(&Document{Cluster: key(u), Seq: 1, URL: page.URL(u), Title: title, Text: text})
	}
	ops := []Change{doc("https://widget.org/legal/", "Imprint", "It is a widget. "+strings.Repeat("The law is long. ", 60))}
	for i := range 9 {
		ops = append(ops, doc(fmt.Sprintf("https://widget.org/how-to-turn-it-%d/", i), "Widget", "A widget turns."))
	}
	apply(t, openTestWriter(t, dir), ops...)
	res, err := openTestReader(t, dir).Search(t.Context(), "widget", search.Options{Limit: 10})
	if err != nil || len(res.Hits) == 0 || res.Hits[0].URL == "https://widget.org/legal/" {
		t.Errorf("found %+v, %v", res.Hits, err)
	}
}

// TestFrontPageOfMany: the front page is found although a hundred pages come before it by text, and
// so is one that does not say of itself that it is a home page. It is not shown to a query that it
// does not answer, or that is restricted to other pages.
func TestFrontPageOfMany(t *testing.T) {
	dir := t.TempDir()
	ops := []Change{
		Upsert(&Document{Cluster: key("front"), Seq: 1, URL: "https://docs.widget.org/en/1.2/", Title: "Documentation", Text: "All about the widget, and about much else: " + strings.Repeat("turns and mends and paints. ", 40)}),
		Upsert(&Document{Cluster: key("deep"), Seq: 1, URL: "https://docs.widget.org/en/1.2/a/", Title: "Widget", Text: "A widget.", Rank: 5}),
	}
	for i := range 2 * ranked {
		ops = append(ops, Upsert(&Document{Cluster: key(fmt.Sprint(i)), Seq: 1, URL: page.URL(fmt.Sprintf("https://docs.widget.org/en/1.2/a/%d.html", i)), Title: fmt.Sprintf("Part %d, widget", i), Text: "A part of a widget, at home on a page."}))
	}
	apply(t, openTestWriter(t, dir), ops...)
	r := openTestReader(t, dir)
	for query, want := range map[string]string{
		"widget":               "https://docs.widget.org/en/1.2/",
		"widget documentation": "https://docs.widget.org/en/1.2/",
		"widget home page":     "https://docs.widget.org/en/1.2/",
		"widget inurl:a":       "https://docs.widget.org/en/1.2/a/",
		"part 7 widget":        "https://docs.widget.org/en/1.2/a/7.html",
	} {
		for _, limit := range []int{1, 10, 150} {
			res, err := r.Search(t.Context(), query, search.Options{Limit: limit, Unfold: true})
			if err != nil || len(res.Hits) == 0 || string(res.Hits[0].URL) != want {
				t.Errorf("%q, %d hits: %+v, %v; want %s first", query, limit, res.Hits[:min(1, len(res.Hits))], err, want)
			}
			seen := make(map[string]bool)
			for _, h := range res.Hits {
				if seen[string(h.URL)] {
					t.Errorf("%q: %s twice", query, h.URL)
				}
				seen[string(h.URL)] = true
			}
		}
	}
}

// TestFrontPageOfFew: a front page without all the words joins the first tier, and changes nothing
// about the second one: that is sorted by titles as well, and folded. With Options.Verbatim it does
// not join.
func TestFrontPageOfFew(t *testing.T) {
	dir := t.TempDir()
	text := "Each widget turns. " + strings.Repeat("It mends and paints what nobody has turned before. ", 20)
	var ops []Change
	for u, d := range map[string]Document{
		"https://widget.org/":                {Title: "Documentation", Text: "All about the widget, and about much else. " + text},
		"https://widget.org/all":             {Title: "Turning", Text: "At home on a page: a widget."},
		"https://other.org/1.2/guide/turn":   {Title: "Guide", Text: text},
		"https://other.org/1.3/guide/turn":   {Title: "Guide", Text: text},
		"https://third.org/blue-widget-page": {Title: "Widget page", Text: strings.Repeat("Much else is told. ", 60)},
	} {
		d.Cluster, d.Seq, d.URL = key(u), 1, page.URL(u)
		ops = append(ops, Upsert(&d))
	}
	apply(t, openTestWriter(t, dir), ops...)
	r := openTestReader(t, dir)
	const front = "https://widget.org/"
	res, err := r.Search(t.Context(), "widget home page", search.Options{Limit: 10, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, h := range res.Hits {
		found = append(found, string(h.URL))
	}
	want := []string{front, "https://widget.org/all", "https://third.org/blue-widget-page", "https://other.org/1.3/guide/turn"}
	if !slices.Equal(found, want) || res.Total != 5 || res.AllWords != 1 {
		t.Errorf("found %q, %d of %d with all words\nwant %q", found, res.AllWords, res.Total, want)
	}
	res, err = r.Search(t.Context(), "widget home page", search.Options{Limit: 10, Verbatim: true})
	if err != nil || res.Hits[0].URL == front {
		t.Errorf("verbatim: first %s, %v", res.Hits[0].URL, err)
	}
}
