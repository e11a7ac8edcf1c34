package frontier

import (
	"strings"
	"sync"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

// knownCache remembers URLs that have entries, so that a link to one of them costs no
// read. Most links of a site lead to pages that the crawl has found long ago: without
// the cache, each of the links of each page was a read, and those that wait in the
// queue were two.
//
// Offering a known URL does two things at most: it lowers the URL's depth, and moves a
// URL that was never fetched within the queue if its rank has changed. So a URL is
// skipped if the cache has it at no greater depth, for two reasons:
//
//  1. An entry that was committed stays, and its depth never rises. So what the cache
//     holds is true for all later transactions, whether or not the transaction that read
//     the entry commits. It must not hold what a transaction has written itself: if that
//     is rolled back, the URL is unknown, and nothing would ever add it.
//  2. The order of the queue is approximate anyway (see weight.go). A URL in the queue
//     is read and weighed again when four times as many links lead to it: its rank grows
//     with their number, and it moves only if that grows by a factor of four.
//
// The cache has two halves. When the young one is full, it becomes the old one, whose
// URLs are dropped; a URL that is looked up in the old one moves to the young one.
//
// Rejected: a set of hashes. It would take a fifth of the memory, but a URL whose hash
// is that of another one would never be fetched.
type knownCache struct {
	mu         sync.Mutex
	young, old map[page.URL]*knownURL
}

type knownURL struct {
	depth int  // of its entry, at most
	waits bool // for its first fetch
	links int  // that led to it while it waited
	weigh int  // at which number of links it is weighed again
}

// MaxKnown is how many URLs the cache has at most, half of them in each half.
const MaxKnown = 1 << 16

// covers reports whether there is no need to offer a URL found at a depth.
func (c *knownCache) covers(u page.URL, depth int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.get(u)
	if k == nil || k.depth > depth {
		return false
	}
	if !k.waits {
		return true
	}
	if k.links++; k.links < k.weigh {
		return true
	}
	k.weigh *= 4
	return false
}

// learn remembers an entry that was read. It must be one that was committed.
func (c *knownCache) learn(u page.URL, e *schema.FrontierEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.get(u)
	if k == nil {
		k = &knownURL{depth: e.Depth, links: 1, weigh: 4}
		c.put(u, k)
	}
	k.depth = min(k.depth, e.Depth)
	k.waits = e.State == schema.EntryWaiting && !e.Revisit && e.Depth > 0
}

// get finds a URL, and moves it to the young half; nil if the cache does not have it.
func (c *knownCache) get(u page.URL) *knownURL {
	if k := c.young[u]; k != nil {
		return k
	}
	k := c.old[u]
	if k != nil {
		c.put(u, k)
	}
	return k
}

func (c *knownCache) put(u page.URL, k *knownURL) {
	if len(c.young) >= MaxKnown/2 || c.young == nil {
		c.young, c.old = make(map[page.URL]*knownURL), c.young
	}
	c.young[page.URL(strings.Clone(string(u)))] = k // u may be a part of a long list of links
}
