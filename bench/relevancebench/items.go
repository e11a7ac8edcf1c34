package relevancebench

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/page"
)

// knownItem is a query and the one document that answers it.
type knownItem struct {
	query string
	want  page.URL
	held  string // the anchor with one link held out, "" for none
}

// kind is a kind of known items.
type kind struct {
	name, what string
	population int
	items      []knownItem // to search for
	// unasked are as many of the other half. Their links are held out as well: figures
	// stay comparable with those from when weights were chosen on that half.
	unasked []knownItem
}

// items are all known items of an index.
type items struct {
	documents                           int
	titles, cjk, anchors, singles, rare []knownItem
}

// gatherItems reads the documents of an index and keeps what can be asked for.
func gatherItems(ctx context.Context, dir string) (_ *items, err error) {
	r, err := index.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	it := &items{}
	titles, anchors := uniqueTexts{}, uniqueTexts{}
	err = r.Documents(ctx, func(d index.Document) error {
		it.documents++
		titles.add(d.Title, d.URL, 1)
		for _, a := range d.Anchors {
			anchors.add(a.Text, d.URL, a.Count)
		}
		return nil
	})
	for _, t := range titles.only() {
		it.titles = append(it.titles, knownItem{query: words(t.text), want: t.url})
		if half := halfOf(t.text); half != "" {
			it.cjk = append(it.cjk, knownItem{query: half, want: t.url})
		}
	}
	for _, a := range anchors.only() {
		item := knownItem{query: words(a.text), want: a.url, held: a.text}
		if a.links > 1 {
			it.anchors = append(it.anchors, item)
		} else {
			it.singles = append(it.singles, item)
		}
	}
	if err == nil {
		it.rare, err = rareItems(ctx, r, it.documents)
	}
	return it, err
}

// kinds takes up to n items of each kind, the same ones whenever the seed is the same.
// Those that are asked are of half of the documents: the default weights were chosen on
// the other half (docs/ranking.md).
func (it *items) kinds(seed uint64, n int) []kind {
	list := []kind{
		{name: "title", what: "a title that no other document has → the document"},
		{name: "cjk-half", what: "the first half of such a title in Chinese, Japanese or Korean"},
		{name: "anchor", what: "an anchor that leads to one document only, one of its links held out → the document"},
		{name: "anchor-single", what: "the same of anchors with a single link, so that nothing of the anchor is left"},
		{name: "rare-words", what: "three words of the text that few other documents have → the document"},
	}
	for i, all := range [][]knownItem{it.titles, it.cjk, it.anchors, it.singles, it.rare} {
		k := &list[i]
		k.population = len(all)
		slices.SortFunc(all, func(a, b knownItem) int {
			return cmp.Or(cmp.Compare(hashOf(seed, a.query), hashOf(seed, b.query)), cmp.Compare(a.query, b.query), cmp.Compare(a.want, b.want))
		})
		for _, item := range all {
			half := &k.unasked
			if isAsked(seed, item.want) {
				half = &k.items
			}
			if len(*half) < n {
				*half = append(*half, item)
			}
		}
	}
	return list
}

// isAsked reports whether a document is in the half that is asked for.
func isAsked(seed uint64, u page.URL) bool { return hashOf(seed, string(u))%2 != 0 }

func hashOf(seed uint64, s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(strconv.AppendUint(nil, seed, 10)) // never fails
	_, _ = h.Write([]byte(s))
	x := h.Sum64()
	return (x ^ x>>31) * 0x9E3779B97F4A7C15 >> 8
}

// uniqueTexts finds texts that only one document has.
type uniqueTexts map[string]*one

type one struct {
	text   string
	url    page.URL
	links  int
	shared bool // more than one document has it
}

func (o uniqueTexts) add(text string, u page.URL, links int) {
	key := words(strings.ToLower(text))
	if strings.IndexFunc(key, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return
	}
	switch seen := o[key]; {
	case seen == nil:
		o[key] = &one{text: text, url: u, links: links}
	case seen.url != u:
		seen.shared = true
	default:
		seen.links += links // spelled in two ways
	}
}

func (o uniqueTexts) only() (list []one) {
	for _, t := range o {
		if !t.shared {
			list = append(list, *t)
		}
	}
	return list
}

// words is a text without what the query syntax would take for something else.
func words(text string) string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"“”„«»＂:", r) {
			return ' '
		}
		return r
	}, text)
	fields := strings.Fields(text)
	for i, f := range fields {
		fields[i] = strings.TrimLeft(f, "-")
	}
	return strings.Join(fields, " ")
}

// halfOf is a title up to and including the first half of its Chinese, Japanese or
// Korean characters, of which it has at least four; "" for others.
func halfOf(title string) string {
	runes := []rune(words(title))
	total := 0
	for _, r := range runes {
		if isCJK(r) {
			total++
		}
	}
	if total < 4 {
		return ""
	}
	seen := 0
	for i, r := range runes {
		if isCJK(r) {
			seen++
		}
		if seen == (total+1)/2 {
			return string(runes[:i+1])
		}
	}
	return ""
}

func isCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
