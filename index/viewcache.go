package index

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/spelling"
	"github.com/webindexer/indexer/internal/cache"
)

// Most queries share words with queries before them, and finding, reading and decoding the
// list of a common word is most of the cost of a query. So a reader caches what searches have
// read of one state of the index: lists of phrases and of the words in them, the lengths of
// documents, the keys by which candidates are sorted and folded, and the passages that their
// hosts repeat.
//
// Every transaction of the writer that changes any of this also increments the number of
// transactions in the [State]. (Merging segments counts none: it changes pages, but not
// what they say.) A view reads the state first, in its own snapshot. So what was read in
// one snapshot holds in every other snapshot with an equal state, and a view with another
// state begins with an empty cache. While changes arrive several times a second, the
// cache is of little use and costs nothing but its memory.
//
// Rejected: keeping the pages of segments, which most transactions leave alone. Merging
// reuses the numbers of segments and removes pages of those that it has not finished, and
// no number in the file says whether a page is still the same.

// viewCache is what searches have read of one state. It is safe for concurrent use.
type viewCache struct {
	state State

	found      *cache.Cache[phraseIn, *found]
	candidates *cache.Cache[int64, search.Found] // with the columns of candidateColumns
	sketches   *cache.Cache[int64, search.Sketched]
	lengths    *cache.Cache[int64, []byte] // by block
	repeats    *cache.Cache[string, repeatedShingles]
	naming     *cache.Cache[int64, naming]

	mu       sync.Mutex     // guards what follows
	words    *spelling.List // all words for suggestions (words.go); nil: not read
	stemmers []string       // nil: not read
}

// Bounds of each generation, in bytes; there are two.
const (
	leastFoundCache    = 24 << 20
	mostFoundCache     = 96 << 20
	candidateCacheSize = 4 << 20
	sketchCacheSize    = 4 << 20
	lengthCacheSize    = 4 << 20
	repeatsCacheSize   = 4 << 20
	namingCacheSize    = 2 << 20 // of stored anchors and headings; the names made of them are in the cache of the AnchorMatcher
	// cacheEntry is about what an entry of a map takes in addition to its content.
	cacheEntry = 200
)

func newViewCache(state State) *viewCache {
	return &viewCache{
		state:      state,
		found:      cache.New[phraseIn, *found](foundCacheSize(debug.SetMemoryLimit(-1))), // -1 only asks
		candidates: cache.New[int64, search.Found](candidateCacheSize),
		sketches:   cache.New[int64, search.Sketched](sketchCacheSize),
		lengths:    cache.New[int64, []byte](lengthCacheSize),
		repeats:    cache.New[string, repeatedShingles](repeatsCacheSize),
		naming:     cache.New[int64, naming](namingCacheSize),
	}
}

// foundCacheSize returns a share of the memory that the process may take. The lists of words that
// most documents have take longest to read, and are the first that do not fit: the list of "the"
// takes 6.2 MB in an index of 88,510 documents, and no entry may take more than a fourth of a
// generation.
func foundCacheSize(memory int64) int {
	return int(min(max(memory/16, leastFoundCache), mostFoundCache))
}

func (c *viewCache) addFound(key phraseIn, f *found) {
	size := cacheEntry + len(key.Tokens) + 4*len(f.at)
	if f.at == nil {
		size += f.list.Size()
	} else {
		size += 8 * len(f.ids) // the list itself is cached for all columns
	}
	c.found.Add(key, f, size)
}

// getAll returns the values of keys, in their order. If the cache lacks some, it calls read once
// with these. read calls keep for each missing key, in any order, with its index in missing, its
// value, and the size of the value in bytes. getAll fails with [ErrCorrupt] if read leaves out a
// key.
func getAll[K comparable, V any](ctx context.Context, from *cache.Cache[K, V], keys []K, read func(ctx context.Context, missing []K, keep func(i int, value V, size int)) error) ([]V, error) {
	values := make([]V, len(keys))
	var missing []K
	var at []int // in keys
	for i, key := range keys {
		known := false
		if values[i], known = from.Get(key); !known {
			missing, at = append(missing, key), append(at, i)
		}
	}
	if len(missing) == 0 {
		return values, nil
	}
	kept := 0
	err := read(ctx, missing, func(i int, value V, size int) {
		from.Add(missing[i], value, size)
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

// newestCache is the cache of the newest state that a reader has seen.
type newestCache struct {
	mu    sync.Mutex
	cache *viewCache
}

// of returns the cache for a view of this state.
func (n *newestCache) of(state State) *viewCache {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cache != nil && n.cache.state == state {
		return n.cache
	}
	c := newViewCache(state)
	if n.cache == nil || state.Applied > n.cache.state.Applied {
		n.cache = c // otherwise the view is old and has a cache of its own
	}
	return c
}
