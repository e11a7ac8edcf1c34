package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestDiversify: letters are documents of the host of that name, best first; what
// stands below the first ten follows the bar.
func TestDiversify(t *testing.T) {
	for _, tt := range []struct {
		above   string // of the tier before
		in      string
		perHost int
		want    string
		more    string // host and number, on the host's last hit
	}{
		{"", "aaabbbcccddd", 2, "aabbccddab|cd", "c1"},
		{"", "aaaaaabcdefghij", 2, "aabcdefghi|aaaaj", "a4"},
		{"", "aaaa", 1, "aaaa", ""},
		{"", "aaab", 1, "abaa", ""},
		{"", "aaaaaaaaaaaaaaab", 2, "aabaaaaaaa|aaaaaa", "a6"},
		{"", "", 2, "", ""},
		{"a", "aaabbbcccddde", 2, "aabbccddea|abcd", "a1 b1 c1 d1"},
		{"aaaa", "abcdefgh", 2, "aaaabcdefg|ah", "a1"},
		{"aba", "aaaaabcd", 2, "ababcdaaaa|a", "a1"},
		{"abcdefghi", "aij", 1, "abcdefghij|ai", "a1 i1"},
	} {
		var list []candidate
		for i, host := range tt.above + tt.in {
			list = append(list, candidate{id: int64(i), url: page.URL(fmt.Sprintf("https://%c.example/%d", host, i))})
		}
		before := slices.Clone(list)
		above := slices.Clone(list[:len(tt.above)])
		got := append(above, diversify(above, list[len(tt.above):], nil, nil, tt.perHost, true)...)
		var order, more strings.Builder
		for i, c := range got {
			host := c.url.Host()[:1]
			if i == firstPage {
				order.WriteByte('|')
			}
			order.WriteString(host)
			if c.moreFromHost > 0 {
				fmt.Fprintf(&more, "%s%d ", host, c.moreFromHost)
			}
		}
		if order.String() != tt.want {
			t.Errorf("%s by %d: %s, want %s", tt.in, tt.perHost, &order, tt.want)
		}
		if g, w := strings.Fields(more.String()), strings.Fields(tt.more); !slices.Equal(slices.Sorted(slices.Values(g)), slices.Sorted(slices.Values(w))) {
			t.Errorf("%s by %d: more %q, want %q", tt.in, tt.perHost, &more, tt.more)
		}
		if len(got) != len(before) {
			t.Errorf("%s: %d of %d are left", tt.in, len(got), len(before))
		}
		for _, c := range before {
			if !slices.ContainsFunc(got, func(g candidate) bool { return g.id == c.id }) {
				t.Errorf("%s: %s is lost", tt.in, c.url)
			}
		}
	}
}

// TestDiversifyByScore: a hit of a host that has enough of them counts furtherShare of its score, so
// hits of other hosts that fit far worse do not pass it.
func TestDiversifyByScore(t *testing.T) {
	scored := func(hosts string, scores ...float64) (list []candidate) {
		for i, host := range hosts {
			list = append(list, candidate{id: int64(host)*100 + int64(i), url: page.URL(fmt.Sprintf("https://%c.example/%d", host, i)), score: scores[i]})
		}
		return list
	}
	for _, tt := range []struct {
		name       string
		list, more []candidate
		want       string
		moved      string
	}{
		{"just worth it", scored("aaab", 100, 90, 80, 64), nil, "aaba", ""},
		{"not worth it", scored("aaab", 100, 90, 80, 63), nil, "aaab", ""},
		{"worth the fourth, not the third", scored("aaaab", 100, 90, 80, 50, 41), nil, "aaaba", ""},
		{"below the page", scored("aaaaabcdefghij", 100, 90, 80, 70, 60, 58, 57, 56, 55, 54, 53, 52, 51, 50), nil, "aaabcdaefg|ahij", "a1"},
		{"of those not among the best", scored("aaa", 100, 90, 80), scored("bc", 70, 9), "aabac", ""},
	} {
		var order, moved strings.Builder
		for i, c := range diversify(nil, tt.list, nil, tt.more, 2, false) {
			if i == firstPage {
				order.WriteByte('|')
			}
			host := c.url.Host()[:1]
			order.WriteString(host)
			if c.moreFromHost > 0 {
				fmt.Fprintf(&moved, "%s%d ", host, c.moreFromHost)
			}
		}
		if order.String() != tt.want || strings.TrimSpace(moved.String()) != tt.moved {
			t.Errorf("%s: %s with %q moved, want %s with %q", tt.name, &order, &moved, tt.want, tt.moved)
		}
	}
}

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
		whole, err := r.Search(t.Context(), "everywhere", Options{Limit: 400, PerHost: perHost})
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
			part, err := r.Search(t.Context(), "everywhere", Options{Limit: 30, Offset: offset, PerHost: perHost})
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
			part, err := r.Search(t.Context(), "everywhere", Options{Offset: offset, PerHost: perHost})
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
	res, err := openTestReader(t, dir).Search(t.Context(), "harbour museum", Options{Unfold: true, PerHost: 2})
	if err != nil || res.AllWords != 1 || res.Total != 29 || len(res.Hits) != 10 {
		t.Fatalf("%+v, %v", res, err)
	}
	for i, h := range res.Hits {
		if crowd := HostOf(h.URL) == "crowd.example"; crowd != (i < 2) || (h.MoreFromHost == 19) != (i == 1) {
			t.Errorf("hit %d: %s, %d more", i+1, h.URL, h.MoreFromHost)
		}
	}
}

// TestOtherHosts: where one host has the best hundred, the best of others come onto the first
// page all the same, and the pages of the result are parts of one list.
func TestOtherHosts(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	var changes []Change
	doc := func(u page.URL, text string) {
		changes = append(changes, Upsert(&Document{Cluster: key(string(u)), Seq: 1, URL: u, Text: text}))
	}
	for i := range rerankTop + 30 {
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
	search := func(limit, offset, perHost int) (urls []string, last int) {
		res, err := r.Search(t.Context(), query, Options{Unfold: true, Limit: limit, Offset: offset, PerHost: perHost})
		if err != nil {
			t.Fatal(err)
		}
		if res.Total != rerankTop+36 {
			t.Errorf("%d documents", res.Total)
		}
		for _, h := range res.Hits {
			urls = append(urls, h.URL.Host())
			last = max(last, h.MoreFromHost)
		}
		return urls, last
	}
	first, more := search(10, 0, 2)
	want := "www.crowd.example www.crowd.example few.example few.example one.example"
	if got := strings.Join(first, " "); !strings.HasPrefix(got, want+" www.crowd.example") || strings.Count(got, "crowd") != 7 {
		t.Errorf("first page %s", got)
	}
	if more != rerankTop-7 {
		t.Errorf("%d more from the host", more)
	}
	if got, _ := search(10, 0, 0); strings.Count(strings.Join(got, " "), "crowd") != 10 {
		t.Errorf("with any number a host %s", got)
	}
	seen := make(map[page.URL]bool)
	for offset := 0; offset < rerankTop+40; offset += 7 {
		res, err := r.Search(t.Context(), query, Options{Unfold: true, Limit: 7, Offset: offset, PerHost: 2})
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
	if len(seen) != rerankTop+36 {
		t.Errorf("%d documents on all pages", len(seen))
	}
}

// TestAnchorOrder: which of the anchors is the most frequent is no change of what
// can be searched.
func TestAnchorOrder(t *testing.T) {
	a := &Document{URL: "https://a.example/", Anchors: []Anchor{{Text: "one", Count: 3}, {Text: "two", Count: 2}}}
	b := &Document{URL: "https://a.example/", Anchors: []Anchor{{Text: "two", Count: 4}, {Text: "one", Count: 3}}}
	if hashText(a) != hashText(b) || textOf(a, &page.Outline{}).Analyze() != textOf(b, &page.Outline{}).Analyze() {
		t.Error("the order of anchors changes what is indexed")
	}
	b.Anchors[0].Text = "three"
	if hashText(a) == hashText(b) {
		t.Error("another anchor does not")
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
	res, err := openTestReader(t, dir).Search(t.Context(), "everywhere", Options{Limit: 400, PerHost: 2})
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
