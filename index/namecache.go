package index

import (
	"github.com/webindexer/indexer/internal/cache"
	"github.com/webindexer/indexer/page"
)

// A query compares the titles, anchors and addresses of a hundred documents, often the same
// ones, and their analysis depends on nothing but the text and its language. So a reader caches it by
// these, and nothing can be out of date.

// names is the cache of a reader.
type names struct {
	titles *cache.Texts[name]
	keys   *cache.Cache[keyedPage, titledKey]
}

// keysSize bounds the addresses and titles of pages with their keys, in bytes, and keyEntry is about
// what an entry takes besides.
const (
	keysSize = 2 << 20
	keyEntry = 100
)

// NewNames makes an empty cache.
func NewNames() *names {
	return &names{cache.NewTexts[name](), cache.New[keyedPage, titledKey](keysSize)}
}

// keyedPage is a page in a language.
type keyedPage struct {
	url      page.URL
	language string
}

// titledKey is the key of a page while it has this title.
type titledKey struct {
	title string
	key   *pageKey
}

// key is the key of a document.
func (n *names) key(u page.URL, title, language string) *pageKey {
	at := keyedPage{u, language}
	if known, ok := n.keys.Get(at); ok && known.title == title {
		return known.key
	}
	k := makePageKey(u, title, language)
	n.keys.Add(at, titledKey{title, k}, 2*len(u)+2*len(title)+keyEntry)
	return k
}

// Prepare cuts the title of a document that a shard has found to what is compared with queries, and
// computes what it is folded by. A shard does that to keep documents with it; the search does it
// for others.
func (n *names) Prepare(d *Found) {
	d.Title = rankedTitle(d.Title)
	d.key = n.key(d.URL, d.Title, d.Language)
}
