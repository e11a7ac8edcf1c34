package index

import "sync"

// A query compares the titles and anchors of a hundred documents, often the same ones, and
// their analysis depends on nothing but the text and its language. So a reader caches it by
// these, and nothing can be out of date. The cache has two generations: when the new one is
// full, it becomes the old one, and the old one is dropped.

// names is the cache of a reader.
type names struct {
	titles  nameCache[[]nameWord]    // nameWords
	anchors nameCache[[]anchorNames] // takeAnchors
}

// nameCache caches what was made of texts. It is safe for concurrent use.
type nameCache[T any] struct {
	mu       sync.Mutex
	new, old map[nameKey]T
	size     int // of the texts in new, in bytes
}

type nameKey struct{ text, language string }

const (
	// nameCacheSize bounds the texts of each generation, in bytes. What is made of them
	// takes three to eight times as much.
	nameCacheSize = 2 << 20
	// nameCacheEntry is about what an entry takes in addition to its text.
	nameCacheEntry = 100
)

// get is the result of make for a text, which is always the same. It must not be changed.
func (c *nameCache[T]) get(text, language string, make func(text, language string) (T, error)) (T, error) {
	key := nameKey{text, language}
	if known, ok := c.look(key); ok {
		return known, nil
	}
	made, err := make(text, language)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.add(key, made)
	}
	return made, err
}

func (c *nameCache[T]) look(key nameKey) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.new[key]
	if !ok {
		if t, ok = c.old[key]; ok {
			c.add(key, t)
		}
	}
	return t, ok
}

func (c *nameCache[T]) add(key nameKey, t T) {
	size := len(key.text) + nameCacheEntry
	if size > nameCacheSize/16 {
		return
	}
	if c.new == nil || c.size+size > nameCacheSize {
		c.old, c.new, c.size = c.new, make(map[nameKey]T), 0
	}
	if _, known := c.new[key]; !known {
		c.size += size
	}
	c.new[key] = t
}
