package analysis

// StemCache remembers the stems of one language's words. Running text repeats its words,
// and a Snowball run allocates: without the cache, analysis takes about three times
// as long (BenchmarkAnalyze in package index). One goroutine uses a cache at a time.
type StemCache struct {
	stemmer *Stemmer
	stems   map[string]string
}

// stemCacheWords bounds a cache to some 2 MB. A full cache starts again empty, which
// costs less than finding the rare words.
const stemCacheWords = 16384

// NewStemCache returns a cache that was released, or a new one. A stemmer keeps as many
// released caches as there are processors. (A sync.Pool would lose them: in a process that
// only answers queries, the garbage collector runs after every few of them.)
func NewStemCache(s *Stemmer) *StemCache {
	select {
	case c := <-s.idle:
		return c
	default:
		return &StemCache{stemmer: s, stems: make(map[string]string)}
	}
}

// Release gives the cache back. The caller must not use it afterwards.
func (c *StemCache) Release() {
	select {
	case c.stemmer.idle <- c:
	default: // enough are idle
	}
}

// Append appends the stem of a folded word to dst.
func (c *StemCache) Append(dst, word []byte) []byte { return append(dst, c.Stem(word)...) }

// Stem returns the stem of a folded word.
func (c *StemCache) Stem(word []byte) string {
	stem, ok := c.stems[string(word)]
	if !ok {
		w := string(word)
		stem = c.stemmer.Stem(w)
		if len(c.stems) == stemCacheWords {
			clear(c.stems)
		}
		c.stems[w] = stem
	}
	return stem
}
