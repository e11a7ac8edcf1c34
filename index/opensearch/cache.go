package opensearch

// contentKey identifies what was read of a document.
type contentKey struct {
	cluster string
	seq     uint64
}

func (r *record) contentKey() contentKey { return contentKey{r.Cluster, r.Seq} }

// maxContents bounds each generation of the cache of contents, in bytes.
const maxContents = 24 << 20

// size returns about how many bytes a content takes.
func (c *content) size() int {
	a := c.about
	n := 500 + len(a.URL) + len(a.Title) + len(a.Anchors) + len(a.Headings) + len(c.sketch) + len(c.sample)
	for _, text := range c.texts {
		n += len(text)
	}
	return n
}
