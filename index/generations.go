package index

import (
	"context"
	"fmt"
	"sync"
)

// generations is a cache of bounded size in two generations: when the new one is full, it
// becomes the old one, and the old one is dropped. So what is asked for again and again
// stays. It is safe for concurrent use.
type generations[K comparable, V any] struct {
	most int // bytes in each generation; no entry may take more than a fourth of it

	mu       sync.Mutex
	new, old map[K]sized[V]
	size     int // of new, in bytes
}

type sized[V any] struct {
	value V
	size  int
}

func (g *generations[K, V]) get(key K) (value V, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e, known := g.new[key]
	if !known {
		if e, known = g.old[key]; known {
			g.put(key, e)
		}
	}
	return e.value, known
}

// add keeps a value of the given size in bytes, unless it is too large. Callers must not
// change it afterwards.
func (g *generations[K, V]) add(key K, value V, size int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.put(key, sized[V]{value, size})
}

// getAll returns the values of keys, in their order. If the cache lacks some, it calls read once
// with these. read calls keep for each of them, in any order, with its place in missing, its value,
// and the size of the value in bytes. getAll fails with [ErrCorrupt] if read leaves one out.
func (g *generations[K, V]) getAll(ctx context.Context, keys []K, read func(ctx context.Context, missing []K, keep func(i int, value V, size int)) error) ([]V, error) {
	values := make([]V, len(keys))
	var missing []K
	var at []int // in keys
	for i, key := range keys {
		known := false
		if values[i], known = g.get(key); !known {
			missing, at = append(missing, key), append(at, i)
		}
	}
	if len(missing) == 0 {
		return values, nil
	}
	kept := 0
	err := read(ctx, missing, func(i int, value V, size int) {
		g.add(missing[i], value, size)
		values[at[i]] = value
		kept++
	})
	if err == nil && kept != len(missing) {
		err = fmt.Errorf("%w: the rows of %d documents are missing", ErrCorrupt, len(missing)-kept)
	}
	if err != nil {
		return nil, err
	}
	return values, nil
}

func (g *generations[K, V]) put(key K, e sized[V]) {
	if e.size > g.most/4 {
		return
	}
	if g.new == nil || g.size+e.size > g.most {
		g.old, g.new, g.size = g.new, make(map[K]sized[V]), 0
	}
	g.size += e.size - g.new[key].size
	g.new[key] = e
}
