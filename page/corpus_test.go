package page_test

import (
	"path/filepath"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// TestOutlinesOfCorpus: on recorded pages, outlines keep what they promise, most pages with
// navigation are divided, and most of the text is main content.
func TestOutlinesOfCorpus(t *testing.T) {
	dir := testenv.Shared(t, "..", "corpus/t0")
	for _, c := range []struct {
		site                 string
		divided, least, most float64 // shares: of pages, and of bytes of text that are main content
	}{
		{"lucene.apache.org", 0.9, 0.85, 0.97},
		{"flink.apache.org", 0.8, 0.7, 0.9},
	} {
		in, err := warc.Open(filepath.Join(dir, c.site+".warc.gz"), warc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		pages, divided, text, main := 0, 0, 0, 0
		for f, err := range in.Fetches() {
			if err != nil {
				t.Fatal(err)
			}
			d := page.Interpret(&f)
			o, err := page.DecodeOutline(d.Outline, len(d.Text))
			if err != nil {
				t.Fatalf("%s: %v", f.URL, err)
			}
			if d.Text == "" {
				continue
			}
			pages++
			text += len(d.Text)
			if o.Main == nil {
				main += len(d.Text)
				continue
			}
			divided++
			for _, m := range o.Main {
				main += m.End - m.Start
			}
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		d, m := float64(divided)/float64(pages), float64(main)/float64(text)
		if d < c.divided || m < c.least || m > c.most {
			t.Errorf("%s: of %d pages %.2f are divided, and %.2f of the text is main content", c.site, pages, d, m)
		}
	}
}
