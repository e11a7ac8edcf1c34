package opensearch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// filler is words that no other page has in this order.
func filler(i int) string {
	var b strings.Builder
	for n := range 80 {
		fmt.Fprintf(&b, "w%dx%d ", i, n)
	}
	return b.String()
}

// sameWeb is documents in which everything that a result can show occurs: several languages,
// versions, file types, years, sections, menus that a site repeats, texts that are nearly the same,
// members, and words that are easily misspelled.
func sameWeb() (list []index.Change) {
	const menu = "Start menu of all harbours by the sea, with every lighthouse and its keeper in alphabetical order. "
	const story = "The lamp of the lighthouse was lit by its keeper each evening at dusk, and the storm of that winter broke two of the nine lenses in the tower above the reef, so that ships had no light for a week. "
	add := func(d index.Document) {
		n := len(list) + 1
		d.Cluster, d.Seq, d.Digest = page.ContentKey{byte(n), byte(n >> 8), 7}, uint64(n), [8]byte{byte(n)}
		d.FetchedAt = time.Date(2019+n%6, time.Month(1+n%12), 1+n%28, 0, 0, 0, 0, time.UTC)
		d.Rank = math.Round(float64(n*7919%97)) / 10
		d.Members, d.MembersTotal = append([]page.URL{d.URL}, d.Members...), len(d.Members)+1
		list = append(list, index.Upsert(&d))
	}
	for i := range 24 { // many pages of a site with one menu
		word := vocabulary[i]
		add(index.Document{URL: page.URL(fmt.Sprintf("https://harbour.example/guide/%s.html", word)), Title: "About the " + word, Language: "en",
			Text:    menu + "This page tells of the " + word + " and nothing else that matters here. " + filler(i) + " Here the keeper of the " + word + " speaks of his lighthouse.",
			Anchors: []index.Anchor{{Text: "the " + word, Count: 1 + i%3, Others: i % 2}}})
	}
	for _, v := range []string{"1.0", "1.1", "2.0"} { // versions of one page
		for _, language := range []string{"en", "de"} {
			title, text := "Lamp manual", story+"This is the manual of version "+v
			if language == "de" {
				title, text = "Handbuch der Lampe", "Die Lampe des Leuchtturms wurde jeden Abend vom Wärter angezündet. Handbuch der Version "+v
			}
			outline := (&page.Outline{Sections: []page.Section{{Title: page.Range{Start: 0, End: 8}, ID: "the-lamp", Level: 1}, {Title: page.Range{Start: 9, End: 30}, ID: "lighthouse", Level: 2}}}).Encode()
			add(index.Document{URL: page.URL("https://docs.example/" + v + "/" + language + "/lamp.html"), Title: title, Text: text, Language: language, Outline: outline})
		}
	}
	add(index.Document{URL: "https://mirror.example/story", Title: "A winter storm", Text: story + "Copied from another site.", Language: "en", Members: []page.URL{"https://mirror.example/story?print=1"}})
	add(index.Document{URL: "https://other.example/old-story.pdf", Title: "Another winter storm", Text: story + "Copied from another place.", Language: "en"})
	add(index.Document{URL: "https://ja.example/", Title: "灯台の歴史", Text: "海岸の灯台は嵐の夜に船を導く。灯台守は毎晩ランプに火をともす。", Language: "ja"})
	add(index.Document{URL: "https://fr.example/cafe", Title: "Le café du phare", Text: "Un café près du phare, où le gardien raconte l'hiver.", Language: "fr"})
	long := strings.Repeat("waves of the open sea ", 2000) // longer than the head of a text
	add(index.Document{URL: "https://long.example/behind", Text: "Polishing a brass lantern. " + long + " They polished brass lanterns.", Language: "en"})
	add(index.Document{URL: "https://long.example/lacking", Text: "Polishing a brass lantern. " + long + " They polish it.", Language: "en"})
	add(index.Document{URL: "https://short.example/forms", Text: "Polishing brass lanterns, a lantern to polish.", Language: "en"})
	add(index.Document{URL: "https://frame.example/header", Title: "Lighthouse", Language: "en"})
	add(index.Document{URL: "https://untitled.example/signal", Text: "A fog signal without a title.", Language: ""})
	return list
}

// sameCase is a query for both indexes.
type sameCase struct {
	query string
	opts  search.Options
}

func sameCases() []sameCase {
	whole := search.Options{Limit: 20, Facets: true, Explain: true, PerHost: 2, Language: "en"}
	changed := func(change func(*search.Options)) search.Options {
		o := whole
		change(&o)
		return o
	}
	return []sameCase{
		{"lighthouse", whole},
		{"lighthouse keeper", whole},
		{"lamp manual", whole},
		{"lamp manual 1.1", whole},
		{"lamp manual", changed(func(o *search.Options) { o.Unfold = true })},
		{"lamp manual", changed(func(o *search.Options) { o.Language = "de" })},
		{"Handbuch Lampe", whole},
		{"winter storm", whole},
		{"winter storm tower lenses", whole}, // many words: documents without all of them take part
		{"winter storm tower lenses qwertz", whole},
		{"lighthuose", whole},
		{"lighthuose keper", whole},
		{"lighthuose", changed(func(o *search.Options) { o.Verbatim = true })},
		{`"keeper lighthouse"`, whole},
		{"灯台", whole},
		{"灯", whole},
		{"phare gardien", whole},
		{"cafe", whole},
		{"site:harbour.example", whole},
		{"lang:de", whole},
		{"lang:en lamp -manual", whole},
		{"filetype:pdf", whole},
		{"filetype:docx", whole},   // none, and a note
		{"lamp AND manual", whole}, // some, and a note
		{"filetype:html lighthouse", whole},
		{"intitle:lamp", whole},
		{"inurl:guide boat", whole},
		{"after:2022", whole},
		{"before:2021 lighthouse", whole},
		{"after:2026", whole}, // renewed since it was exported
		{"lighthouse", changed(func(o *search.Options) { o.Sort = search.ByDate })},
		{"lighthouse OR 灯台", changed(func(o *search.Options) { o.PerHost = 0 })},
		{"lighthouse", changed(func(o *search.Options) { o.Offset, o.Limit = 5, 7 })},
		{"signal fog", whole},
		{"polished brass lanterns", whole},
		{"qwertzuiop", whole},
		{"the of and", whole},
	}
}

// sameIndexes returns the server and index files with the documents of a web. The times and ranks of
// some have been renewed since.
func sameIndexes(t *testing.T, web []index.Change) (theirs *search.Shards, ours *index.Reader) {
	t.Helper()
	x, a := openTest(t)
	w, r := files(t)
	if err := errors.Join(w.Apply(t.Context(), web), x.Apply(t.Context(), web)); err != nil {
		t.Fatal(err)
	}
	touches := []index.Touch{{Cluster: web[2].Cluster, URL: web[2].Doc.URL, FetchedAt: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}}
	ranks := []index.RankUpdate{{Cluster: web[3].Cluster, Seq: 1000, Rank: 50}}
	for _, sink := range []interface {
		SetRanks(ctx context.Context, ranks []index.RankUpdate) error
		Touch(ctx context.Context, touches []index.Touch) ([]index.Touch, error)
	}{w, x} {
		missing, err := sink.Touch(t.Context(), touches)
		if err = errors.Join(err, sink.SetRanks(t.Context(), ranks)); err != nil || len(missing) > 0 {
			t.Fatal(missing, err)
		}
	}
	return searchers(t, a, r)
}

// TestSameAnswers asks the server and index files, which have the same documents, the same
// questions. Everything that users see is the same: hits in their order with scores and explanations,
// snippets, sections, folded versions, facets, suggestions, filters, similar pages, and completions.
func TestSameAnswers(t *testing.T) {
	theirs, ours := sameIndexes(t, sameWeb())
	seen := make(map[string]bool)
	for _, c := range sameCases() {
		t.Run(c.query, func(t *testing.T) {
			sameHits(t, c.query, c.opts, theirs, ours)
			noteShown(t, seen, c.query, c.opts, ours)
		})
	}
	for _, what := range []string{"sections", "versions", "facets", "years", "suggestion", "hosts with more", "notes", "words as typed", "words in other forms", "pages without text"} {
		if !seen[what] {
			t.Errorf("no query shows %s, so nothing was compared", what)
		}
	}
	if got, want := must(theirs.Filters(t.Context())), must(ours.Filters(t.Context())); !reflect.DeepEqual(got, want) {
		t.Errorf("filters %+v, want %+v", got, want)
	}
	sameSimilar(t, theirs, ours)
	sameCompletions(t, theirs, ours)
}

// noteShown notes what a result has.
func noteShown(t *testing.T, seen map[string]bool, q string, opts search.Options, r *index.Reader) {
	t.Helper()
	res := must(r.Search(t.Context(), q, opts))
	for _, h := range res.Hits {
		seen["sections"] = seen["sections"] || len(h.Sections) > 0
		seen["versions"] = seen["versions"] || len(h.Also) > 0
		seen["pages without text"] = seen["pages without text"] || h.Explanation != nil && h.Explanation.ContentFactor < 1
		if q == "polished brass lanterns" {
			seen["words as typed"] = seen["words as typed"] || h.Explanation.TypedFactor > 1
			seen["words in other forms"] = seen["words in other forms"] || h.Explanation.TypedFactor == 1
		}
		seen["hosts with more"] = seen["hosts with more"] || h.MoreFromHost > 0
	}
	if f := res.Facets; f != nil {
		seen["facets"] = seen["facets"] || len(f.Sites) > 1 && len(f.Languages) > 1 && len(f.Types) > 1
		seen["years"] = seen["years"] || len(f.Years) > 1
	}
	seen["suggestion"] = seen["suggestion"] || res.ShowingFor != ""
	seen["notes"] = seen["notes"] || len(res.Notes) > 0
}

// sameSimilar asks for pages similar to each document, by its URL and by that of a member.
func sameSimilar(t *testing.T, theirs *search.Shards, ours *index.Reader) {
	t.Helper()
	found := 0
	for _, u := range []page.URL{"https://mirror.example/story", "https://mirror.example/story?print=1", "https://docs.example/1.0/en/lamp.html", "https://ja.example/", "https://harbour.example/guide/boat.html", "https://nothing.example/"} {
		for _, o := range []search.SimilarOptions{{}, {Threshold: 0.3}, {Threshold: 0.1, Limit: 3}, {Threshold: 1}} {
			want, wrong := ours.Similar(t.Context(), u, o)
			got, err := theirs.Similar(t.Context(), u, o)
			if errors.Is(wrong, search.ErrNotIndexed) && errors.Is(err, search.ErrNotIndexed) {
				continue
			}
			if err := errors.Join(wrong, err); err != nil {
				t.Fatalf("similar to %s: %v", u, err)
			}
			got.TookMS, want.TookMS = 0, 0
			if !reflect.DeepEqual(got, want) {
				t.Errorf("similar to %s, %+v: on OpenSearch\n%+v\nin the files\n%+v", u, o, got, want)
			}
			found += len(want.Pages)
		}
	}
	if found < 5 {
		t.Errorf("%d similar pages, which tells nothing", found)
	}
}

func sameCompletions(t *testing.T, theirs *search.Shards, ours *index.Reader) {
	t.Helper()
	completed := 0
	for _, typed := range []string{"l", "lam", "about the b", "the ", "灯", "winter s", "qwertz", ""} {
		for _, q := range []search.CompletionQuestion{{Typed: typed, N: 8}, {Typed: typed, N: 3, Site: "harbour.example"}, {Typed: typed, N: 8, Language: "de"}} {
			want, got := must(ours.Complete(t.Context(), q)), must(theirs.Complete(t.Context(), q))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v is completed on OpenSearch by\n%+v\nand in the files by\n%+v", q, got, want)
			}
			completed += len(want)
		}
	}
	if completed < 20 {
		t.Errorf("%d completions, which tells nothing", completed)
	}
}

// TestManyMatches: facets of a result with more documents than are counted by value say
// at least, as in index files. With more than 300 matches, the total and the counts are exact,
// and pages are parts of one list.
func TestManyMatches(t *testing.T) {
	x, a := openTest(t)
	w, r := files(t)
	n := testenv.Size(400, 400, 20_500)
	for from := 0; from < n; from += 500 {
		var some []index.Change
		for i := from; i < min(n, from+500); i++ {
			some = append(some, index.Upsert(&index.Document{Cluster: page.ContentKey{byte(i), byte(i >> 8), 1}, Seq: uint64(i + 1), URL: page.URL(fmt.Sprintf("https://h%d.example/%d", i%3, i)),
				Title: "Rope", Text: fmt.Sprintf("the rope number%d", i) + strings.Repeat(" knot", i*7919%23), Language: []string{"en", "de"}[i%2], FetchedAt: time.Date(2020+i%4, 1, 1, 0, 0, 0, 0, time.UTC)}))
		}
		if err := errors.Join(w.Apply(t.Context(), some), x.Apply(t.Context(), some)); err != nil {
			t.Fatal(err)
		}
	}
	theirs, ours := searchers(t, a, r)
	all := must(theirs.Search(t.Context(), "rope", search.Options{Limit: 400})).Hits
	for offset := 0; offset < len(all); offset += 40 {
		got := must(theirs.Search(t.Context(), "rope", search.Options{Limit: 40, Offset: offset})).Hits
		if !reflect.DeepEqual(got, all[offset:min(offset+40, len(all))]) {
			t.Errorf("the hits from %d are not those of all", offset)
		}
	}
	opts := search.Options{Facets: true}
	for _, q := range []string{"rope", "rope site:h1.example", "rope lang:de", "number7", "rope after:2022"} {
		want, got := must(ours.Search(t.Context(), q, opts)), must(theirs.Search(t.Context(), q, opts))
		if got.Total != want.Total || got.AllWords != want.AllWords || got.Facets.AtLeast != want.Facets.AtLeast {
			t.Errorf("%q: %d documents, %d with all words, at least %t; want %d, %d, %t", q, got.Total, got.AllWords, got.Facets.AtLeast, want.Total, want.AllWords, want.Facets.AtLeast)
		}
		for _, f := range []*search.Facets{got.Facets, want.Facets} { // equal counts are in the order of the candidates
			for _, list := range [][]search.Facet{f.Sites, f.Languages, f.Types} {
				slices.SortFunc(list, func(a, b search.Facet) int { return strings.Compare(a.Value, b.Value) })
			}
		}
		if !want.Facets.AtLeast && !reflect.DeepEqual(got.Facets, want.Facets) {
			t.Errorf("%q: facets %+v, want %+v", q, got.Facets, want.Facets)
		}
	}
}
