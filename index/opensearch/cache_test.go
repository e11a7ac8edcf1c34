package opensearch

import (
	"strings"
	"testing"
)

// TestContentSize: the cache counts texts and headings alike.
func TestContentSize(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	inTexts, inHeadings := &content{about: new(about)}, &content{about: &about{Headings: text}}
	inTexts.texts[0] = text
	for name, c := range map[string]*content{"text": inTexts, "headings": inHeadings} {
		if size := c.size(); size < len(text) || size > len(text)+4096 {
			t.Errorf("%s of %d bytes: size %d", name, len(text), size)
		}
	}
}
