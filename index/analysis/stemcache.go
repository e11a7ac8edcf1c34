package analysis

type StemCache struct {
	stemmer *Stemmer
	stems   map[string]string
}

const stemCacheWords = 16384

func (c *StemCache) Append(dst, word []byte) []byte {
	stem, ok := c.stems[string(word)]
	if !ok {
		w := string(word)
		stem = c.stemmer.Stem(w)
		if len(c.stems) == stemCacheWords {
			clear(c.stems)
		}
		c.stems[w] = stem
	}
	return append(dst, stem...)
}

func NewStemCache(s *Stemmer) *StemCache {
	select {
	case c := <-s.idle:
		return c
	default:
		return &StemCache{stemmer: s, stems: make(map[string]string)}
	}
}
func (c *StemCache) Release() {
	select {
	case c.stemmer.idle <- c:
	default:
	}
}
