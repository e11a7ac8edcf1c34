package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// TestFarPages: pages agree also where documents found by their names only are added, and hosts are spread.
func TestFarPages(t *testing.T) {
	dir := t.TempDir()
	docs := generate(400, 1)
	for i := range docs {
		docs[i].Doc.Text += " everywhere everywhere"
		if i%9 == 0 {
			docs[i].Doc.Title = "Everywhere"
			docs[i].Doc.Text += strings.Repeat(" padding", 3000)
		}
	}
	apply(t, openTestWriter(t, dir), docs...)
	r := openTestReader(t, dir)
	for _, perHost := range []int{0, 2} {
		whole, err := r.Search(t.Context(), "everywhere", search.Options{Limit: 400, PerHost: perHost})
		if err != nil || len(whole.Hits) != 400 || whole.Total != 400 {
			t.Fatalf("%d hits of %d, %v", len(whole.Hits), whole.Total, err)
		}
		seen := make(map[page.URL]bool)
		for i, h := range whole.Hits {
			if seen[h.URL] {
				t.Errorf("%s is there twice", h.URL)
			}
			seen[h.URL] = true
			if i < 44 && h.Title != "Everywhere" && perHost == 0 {
				t.Errorf("hit %d is %q", i+1, h.Title)
			}
		}
		for offset := 0; offset < 400; offset += 30 {
			part, err := r.Search(t.Context(), "everywhere", search.Options{Limit: 30, Offset: offset, PerHost: perHost})
			if err != nil {
				t.Fatal(err)
			}
			for i, h := range part.Hits {
				if w := whole.Hits[offset+i]; h.URL != w.URL {
					t.Fatalf("from %d: hit %d is %s, want %s", offset, i, h.URL, w.URL)
				}
			}
		}
	}
}

// TestFarPagesFolded: where versions of pages are one result, the pages of the result still have
// all results, and end with the last one.
func TestFarPagesFolded(t *testing.T) {
	dir := t.TempDir()
	docs := generate(400, 1)
	for i := range docs {
		d := docs[i].Doc
		d.Text += " everywhere everywhere"
		if i < 160 { // four versions of each
			d.URL = page.URL(fmt.Sprintf("https://guide.example/%d.0/chapter%c%c.html", i%4+1, 'a'+i/4/26, 'a'+i/4%26))
			d.Title = fmt.Sprintf("Everywhere in chapter %c%c", 'a'+i/4/26, 'a'+i/4%26)
		}
	}
	apply(t, openTestWriter(t, dir), docs...)
	r := openTestReader(t, dir)
	for _, perHost := range []int{0, 2} {
		results, folded := make(map[page.URL]bool), -1
		for offset := 0; offset < 400; offset += 10 {
			part, err := r.Search(t.Context(), "everywhere", search.Options{Offset: offset, PerHost: perHost})
			if err != nil {
				t.Fatal(err)
			}
			if folded == -1 {
				folded = part.Folded
			}
			if part.Total != 400 || part.Folded != folded || folded < 30 {
				t.Fatalf("from %d: %d documents, %d folded; %d at first", offset, part.Total, part.Folded, folded)
			}
			if want := max(0, min(10, 400-folded-offset)); len(part.Hits) != want {
				t.Fatalf("from %d: %d hits, want %d", offset, len(part.Hits), want)
			}
			for _, h := range part.Hits {
				if results[h.URL] {
					t.Errorf("%s is there twice", h.URL)
				}
				results[h.URL] = true
				for _, a := range h.Also {
					if results[page.URL(a.URL)] {
						t.Errorf("%s is a result and folded into another", a.URL)
					}
					results[page.URL(a.URL)] = true
				}
			}
		}
		if len(results) != 400 {
			t.Errorf("%d documents on all pages", len(results))
		}
	}
}

// TestManyOtherWords: documents that other words name fill the first page, and documents with some of
// the words follow.
func TestManyOtherWords(t *testing.T) {
	var docs []Change
	for i := range 40 {
		u := page.URL(fmt.Sprintf("https://site%d.example/%d", i%7, i))
		d := &Document{Cluster: key(string(u)), Seq: 1, URL: u, Title: fmt.Sprintf("Remove an account %d", i), Text: fmt.Sprintf("Page %d about something.", i), Language: "en"}
		switch {
		case i == 0:
			d.Title, d.Text = "Delete account", "How to delete an account."
		case i > 30:
			d.Title, d.Text = fmt.Sprintf("Note %d", i), fmt.Sprintf("Delete note %d.", i)
		}
		docs = append(docs, Upsert(d))
	}
	w := openTestWriter(t, t.TempDir())
	apply(t, w, docs...)
	r := openTestReader(t, w.dir)
	for _, perHost := range []int{0, 2} {
		whole, err := r.Search(t.Context(), "delete account", search.Options{Limit: 40, PerHost: perHost})
		if err != nil || len(whole.Hits) != 40 || whole.Total != 40 || whole.AllWords != 1 {
			t.Fatalf("%d hits of %d, %v", len(whole.Hits), whole.Total, err)
		}
		for offset := 0; offset < 40; offset += 10 {
			part, err := r.Search(t.Context(), "delete account", search.Options{Offset: offset, PerHost: perHost})
			if err != nil {
				t.Fatal(err)
			}
			for i, h := range part.Hits {
				if w := whole.Hits[offset+i]; h.URL != w.URL {
					t.Errorf("from %d: hit %d is %s, want %s", offset, i, h.URL, w.URL)
				}
			}
		}
	}
}

// TestDiversifyTiers: what has all the words counts where hosts of what has some of them are spread.
func TestDiversifyTiers(t *testing.T) {
	dir := t.TempDir()
	var changes []Change
	doc := func(u page.URL, text string) {
		changes = append(changes, Upsert(&Document{Cluster: key(string(u)), Seq: 1, URL: u, Text: text}))
	}
	doc("https://crowd.example/both", "harbour museum")
	for i := range 20 {
		doc(page.URL(fmt.Sprintf("https://www.crowd.example/%d", i)), "harbour harbour harbour")
	}
	for i := range 8 {
		doc(page.URL(fmt.Sprintf("https://other%d.example/", i)), "harbour harbour else")
	}
	apply(t, openTestWriter(t, dir), changes...)
	res, err := openTestReader(t, dir).Search(t.Context(), "harbour museum", search.Options{Unfold: true, PerHost: 2})
	if err != nil || res.AllWords != 1 || res.Total != 29 || len(res.Hits) != 10 {
		t.Fatalf("%+v, %v", res, err)
	}
	for i, h := range res.Hits {
		if crowd := search.HostOf(h.URL) == "crowd.example"; crowd != (i < 2) || (h.MoreFromHost == 19) != (i == 1) {
			t.Errorf("hit %d: %s, %d more", i+1, h.URL, h.MoreFromHost)
		}
	}
}

// TestOtherHosts: if one host has the best hundred, the best of other hosts still come onto
// the first page, and the pages of the result are parts of one list.
func TestOtherHosts(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	var changes []Change
	doc := func(u page.URL, text string) {
		changes = append(changes, Upsert(&Document{Cluster: key(string(u)), Seq: 1, URL: u, Text: text}))
	}
	for i := range ranked + 30 {
		doc(page.URL(fmt.Sprintf("https://www.crowd.example/%d", i)), "harbour harbour harbour")
	}
	for i := range 3 {
		doc(page.URL(fmt.Sprintf("https://few.example/%d", i)), "harbour harbour else")
	}
	doc("https://sub.crowd.example/", "harbour harbour else")
	doc("https://one.example/", "harbour harbour harbour far from the lights of the old town")
	doc("https://hardly.example/", "harbour"+strings.Repeat(" and very much else that is not asked for at all", 20))
	doc("https://not.example/", "harbour secret")
	apply(t, w, changes...)
	r := openTestReader(t, dir)
	const query = "harbour -secret"
	find := func(limit, offset, perHost int) (urls []string, last int) {
		res, err := r.Search(t.Context(), query, search.Options{Unfold: true, Limit: limit, Offset: offset, PerHost: perHost})
		if err != nil {
			t.Fatal(err)
		}
		if res.Total != ranked+36 {
			t.Errorf("%d documents", res.Total)
		}
		for _, h := range res.Hits {
			urls = append(urls, h.URL.Host())
			last = max(last, h.MoreFromHost)
		}
		return urls, last
	}
	first, more := find(10, 0, 2)
	want := "www.crowd.example www.crowd.example few.example few.example one.example"
	if got := strings.Join(first, " "); !strings.HasPrefix(got, want+" www.crowd.example") || strings.Count(got, "crowd") != 7 {
		t.Errorf("first page %s", got)
	}
	if more != ranked-7 {
		t.Errorf("%d more from the host", more)
	}
	if got, _ := find(10, 0, 0); strings.Count(strings.Join(got, " "), "crowd") != 10 {
		t.Errorf("with any number a host %s", got)
	}
	seen := make(map[page.URL]bool)
	for offset := 0; offset < ranked+40; offset += 7 {
		res, err := r.Search(t.Context(), query, search.Options{Unfold: true, Limit: 7, Offset: offset, PerHost: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			if seen[h.URL] {
				t.Errorf("%s is there twice", h.URL)
			}
			seen[h.URL] = true
		}
	}
	if len(seen) != ranked+36 {
		t.Errorf("%d documents on all pages", len(seen))
	}
}

// TestOtherHostsRanked: documents that are looked for because one host has the best hundred are ranked
// like others, and are no second copies of those that the search has already.
func TestOtherHostsRanked(t *testing.T) {
	var changes []Change
	doc := func(u page.URL, rank float64, text string) {
		changes = append(changes, Upsert(&Document{Cluster: key(string(u)), Seq: 1, URL: u, Text: text, Rank: rank}))
	}
	for i := range ranked + 30 {
		doc(page.URL(fmt.Sprintf("https://crowd.example/%d", i)), 0, "harbour harbour harbour")
	}
	doc("https://best.example/", 0, "harbour harbour harbour harbour")
	doc("https://both.example/", 0, "harbour museum and much else")
	doc("https://few.example/", 0, "harbour harbour harbour else")
	doc("https://rank.example/", 1, "harbour harbour harbour else")
	w := openTestWriter(t, t.TempDir())
	apply(t, w, changes...)
	r := openTestReader(t, w.dir)
	for query, want := range map[string]string{
		"harbour":        "best rank crowd crowd few crowd crowd crowd crowd crowd",
		"harbour museum": "both best crowd crowd rank few crowd crowd crowd crowd",
	} {
		res, err := r.Search(t.Context(), query, search.Options{PerHost: 2, Unfold: true, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		var hosts []string
		for _, h := range res.Hits {
			hosts = append(hosts, strings.TrimSuffix(h.URL.Host(), ".example"))
			if all := h.Explanation.Tier == "all words"; all != (query == "harbour" || hosts[len(hosts)-1] == "both") {
				t.Errorf("%s: %s has %s", query, h.URL, h.Explanation.Tier)
			}
		}
		if got := strings.Join(hosts, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestFoldedOfOtherHosts: versions of pages that are read only because one host dominates, and
// are then not worth a place, count as results of their own, which they are.
func TestFoldedOfOtherHosts(t *testing.T) {
	dir := t.TempDir()
	docs := generate(400, 1)
	for i := range docs {
		d := docs[i].Doc
		if i < 300 {
			d.URL, d.Title = page.URL(fmt.Sprintf("https://a.example/%d", i)), "Everywhere"
			d.Text += strings.Repeat(" everywhere", 20)
			continue
		}
		d.URL = page.URL(fmt.Sprintf("https://guide.example/%d.0/chapter%c.html", i%4+1, 'a'+i/4%25))
		d.Title = fmt.Sprintf("Chapter %c", 'a'+i/4%25)
		d.Text += strings.Repeat(" padding", 1000) + " everywhere"
	}
	apply(t, openTestWriter(t, dir), docs...)
	res, err := openTestReader(t, dir).Search(t.Context(), "everywhere", search.Options{Limit: 400, PerHost: 2})
	if err != nil {
		t.Fatal(err)
	}
	also := 0
	for _, h := range res.Hits {
		also += len(h.Also)
	}
	if len(res.Hits) != res.Total-res.Folded || also != res.Folded {
		t.Errorf("%d hits of %d documents, of which %d count as folded and %d are", len(res.Hits), res.Total, res.Folded, also)
	}
}
