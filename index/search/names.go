package search

import (
	"github.com/webindexer/indexer/internal/cache"
	"github.com/webindexer/indexer/page"
)

// A query compares the titles, anchors and addresses of a hundred documents, often the same
// documents as other queries, and their analysis depends only on the text and its language. So
// it is cached by text and language, and nothing can be out of date.

// Names caches what searches compute of names. It is safe for concurrent use.
type Names struct {
	titles *cache.Texts[Name]
	keys   *cache.Cache[keyedPage, titledKey]
}

// keysSize bounds the addresses and titles of pages with their keys, in bytes. keyEntry is about
// what an entry takes in addition.
const (
	keysSize = 2 << 20
	keyEntry = 100
)

// NewNames makes an empty cache.
func NewNames() *Names {
	return &Names{cache.NewTexts[Name](), cache.New[keyedPage, titledKey](keysSize)}
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

// key returns the key of a document.
func (n *Names) key(u page.URL, title, language string) *pageKey {
	at := keyedPage{u, language}
	if known, ok := n.keys.Get(at); ok && known.title == title {
		return known.key
	}
	k := makePageKey(u, title, language)
	n.keys.Add(at, titledKey{title, k}, 2*len(u)+2*len(title)+keyEntry)
	return k
}

// Prepare cuts the title of a document that a shard has found to what is compared with queries, and
// computes the key by which the document is folded. A shard does this for the documents that it
// caches; the search does it for others.
func (n *Names) Prepare(d *Found) {
	d.Title = rankedTitle(d.Title)
	d.key = n.key(d.URL, d.Title, d.Language)
}
