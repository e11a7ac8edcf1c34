package opensearch

import (
	"sync"
)

// contents caches what was read of documents, by cluster and Seq. When it is full, it keeps
// what was used since it was last full, and drops the rest.
type contents struct {
	mu        sync.Mutex
	have, old map[contentKey]*content
	size      int // of have
}

type contentKey struct {
	cluster string
	seq     uint64
}

// maxContents bounds the bytes of have, and also those of what was used before.
const maxContents = 24 << 20

func (c *contents) get(r *record) *content {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := contentKey{r.Cluster, r.Seq}
	found := c.have[key]
	if found == nil {
		if found = c.old[key]; found != nil {
			c.put(key, found)
		}
	}
	return found
}

func (c *contents) add(r *record, what *content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(contentKey{r.Cluster, r.Seq}, what)
}

// put adds what is not in have. The caller holds c.mu.
func (c *contents) put(key contentKey, what *content) {
	if c.have == nil || c.size+what.size() > maxContents {
		c.have, c.old, c.size = make(map[contentKey]*content), c.have, 0
	}
	if c.have[key] == nil {
		c.size += what.size()
	}
	c.have[key] = what
}

// size returns about how many bytes a content takes.
func (c *content) size() int {
	a := c.about
	n := 500 + len(a.URL) + len(a.Title) + len(a.Anchors) + len(a.Headings) + len(c.sketch) + len(c.sample)
	for _, text := range c.texts {
		n += len(text)
	}
	return n
}
