package opensearch

import (
	"sync"
)

// contents is what was read of documents, by cluster and Seq. It begins anew when it is
// full.
type contents struct {
	mu   sync.Mutex
	have map[contentKey]*content
	size int
}

type contentKey struct {
	cluster string
	seq     uint64
}

// maxContents bounds the cache, in bytes.
const maxContents = 32 << 20

func (c *contents) get(r *record) *content {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.have[contentKey{r.Cluster, r.Seq}]
}

func (c *contents) add(r *record, what *content) {
	size := 500 + len(what.about.Anchors) + len(what.about.Headings) + len(what.sketch)
	for _, text := range what.texts {
		size += len(text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.have == nil || c.size+size > maxContents {
		c.have, c.size = make(map[contentKey]*content), 0
	}
	c.have[contentKey{r.Cluster, r.Seq}] = what
	c.size += size
}
