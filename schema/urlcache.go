package schema

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/webindexer/indexer/page"
)

// urlCache remembers the URLs of recently parsed rows. To check a row, its URL is parsed
// and its row built again, which takes about a microsecond. A crawl reads the same rows
// again and again, mostly as sources of links, and the check took 4 % of all work. Only
// rows that passed the check are kept; rows that are not in the cache are checked.
//
// The cache is direct-mapped: a slot holds the last row that was put there. It is safe
// for concurrent use.
var urlCache [1 << 13]atomic.Pointer[cachedURL]

// maxCachedRow bounds a slot, and so the cache: 8 MB at most, 2 MB with usual URLs.
const maxCachedRow = 512

type cachedURL struct {
	row string
	url page.URL
}

var urlSeed = maphash.MakeSeed()

func urlSlot(row string) *atomic.Pointer[cachedURL] {
	return &urlCache[maphash.String(urlSeed, row)%uint64(len(urlCache))]
}

func cachedURLOf(row string) (page.URL, bool) {
	if c := urlSlot(row).Load(); c != nil && c.row == row {
		return c.url, true
	}
	return "", false
}

func cacheURL(row string, u page.URL) {
	if len(row) <= maxCachedRow {
		// Copy it: row may be a part of a larger string.
		urlSlot(row).Store(&cachedURL{strings.Clone(row), u})
	}
}
