package index

import "github.com/webindexer/indexer/page"

// A query compares the titles, anchors and addresses of a hundred documents, often the same
// ones, and their analysis depends on nothing but the text and its language. So a reader caches it by
// these, and nothing can be out of date.

// names is the cache of a reader.
type names struct {
	titles   *nameCache[name]
	anchors  *nameCache[[]anchorNames] // takeAnchors
	headings *nameCache[[]name]
	keys     *nameCache[titledKey] // by the URL
}

func newNames() names {
	return names{newNameCache[name](), newNameCache[[]anchorNames](), newNameCache[[]name](), newNameCache[titledKey]()}
}

// nameCache caches what was made of texts. It is safe for concurrent use.
type nameCache[T any] struct {
	generations[nameKey, T]
}

type nameKey struct{ text, language string }

const (
	// nameCacheSize bounds the texts of each generation, in bytes. The values computed
	// from them take three to eight times as much.
	nameCacheSize = 2 << 20
	// nameCacheEntry is about what an entry takes in addition to its text.
	nameCacheEntry = 100
)

func newNameCache[T any]() *nameCache[T] {
	return &nameCache[T]{generations[nameKey, T]{most: nameCacheSize}}
}

// get is the result of make for a text, which is always the same. It must not be changed.
func (c *nameCache[T]) get(text, language string, make func(text, language string) (T, error)) (T, error) {
	key := nameKey{text, language}
	if known, ok := c.generations.get(key); ok {
		return known, nil
	}
	made, err := make(text, language)
	if err == nil {
		c.add(key, made, len(text)+nameCacheEntry)
	}
	return made, err
}

// titledKey is the key of a page while it has this title.
type titledKey struct {
	title string
	key   *pageKey
}

// key is the key of a document.
func (n *names) key(u page.URL, title, language string) *pageKey {
	at := nameKey{string(u), language}
	if known, ok := n.keys.generations.get(at); ok && known.title == title {
		return known.key
	}
	k := makePageKey(u, title, language)
	n.keys.add(at, titledKey{title, k}, 2*len(u)+2*len(title)+nameCacheEntry)
	return k
}
