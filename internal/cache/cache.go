// Package cache keeps in memory what was read or computed, up to a size.
package cache

import "sync"

// Cache is a cache of bounded size in two generations: when the new one is full, it becomes the
// old one, and the old one is dropped. So what is asked for again and again stays. It is safe for
// concurrent use.
type Cache[K comparable, V any] struct {
	most int

	mu       sync.Mutex
	new, old map[K]sized[V]
	size     int // of new, in bytes
}

type sized[V any] struct {
	value V
	size  int
}

// New makes an empty cache. most bounds each generation, in bytes, and no entry may take more than
// a fourth of it.
func New[K comparable, V any](most int) *Cache[K, V] { return &Cache[K, V]{most: most} }

// Get returns the value of a key, and whether the cache has it.
func (c *Cache[K, V]) Get(key K) (value V, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, known := c.new[key]
	if !known {
		if e, known = c.old[key]; known {
			c.put(key, e)
		}
	}
	return e.value, known
}

// Add keeps a value of the given size in bytes, unless it is too large. Callers must not
// change it afterwards.
func (c *Cache[K, V]) Add(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, sized[V]{value, size})
}

func (c *Cache[K, V]) put(key K, e sized[V]) {
	if e.size > c.most/4 {
		return
	}
	if c.new == nil || c.size+e.size > c.most {
		c.old, c.new, c.size = c.new, make(map[K]sized[V]), 0
	}
	c.size += e.size - c.new[key].size
	c.new[key] = e
}
