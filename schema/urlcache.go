package schema

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"indexer/page"
)

// urlCache remembers the URLs of rows that were read lately. A row is checked by
// parsing its URL and writing it again, which takes about a microsecond; in a crawl the
// same rows are read again and again, as sources of links most of all, and that was
// one part in twenty-five of all work. Only rows that were found in order are kept, so
// what is not in the cache is checked as ever.
//
// It is direct-mapped: a slot holds whatever came last. Safe for concurrent use.
var urlCache [1 << 13]atomic.Pointer[cachedURL]

// maxCachedRow bounds what a slot holds, and so the cache: 8 MB at worst, 2 MB as
// URLs go.
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
		// A copy: row may be a part of something larger.
		urlSlot(row).Store(&cachedURL{strings.Clone(row), u})
	}
}
