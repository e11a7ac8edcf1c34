package index

import (
	"context"
	"database/sql"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// A heading with an address of its own (#fragment) names a part of a page, as an anchor names
// a page: the reference of all settings is the right page for the name of one setting. So the
// second sort also compares the query with these headings (search/rerank.go).
//
// They are stored with the anchors, as text: cutting them out of the texts of thirty
// candidates would decompress a megabyte for each query.

const (
	// maxHeadings bounds the headings of a document that are compared with queries.
	maxHeadings = 256
	// maxHeading bounds each heading, in bytes. A longer one is not a name.
	maxHeading = 128
	// headingMost is the weight of a heading that equals the query, where an anchor of many
	// links weighs 1. Of 0.5 to 1, with the agreement to the power of 2 to 4, none was
	// better (docs/ranking-experiments.md).
	headingMost = 0.7
)

// headingsOf returns the headings of a document as they are stored: one per line, each once.
func headingsOf(d *Document, o *page.Outline) string {
	var b strings.Builder
	seen := make(map[string]bool)
	for _, s := range o.Sections {
		if len(seen) == maxHeadings {
			break
		}
		heading := strings.Join(strings.Fields(strings.ToValidUTF8(d.Text[s.Title.Start:s.Title.End], " ")), " ")
		if heading == "" || len(heading) > maxHeading || seen[heading] {
			continue
		}
		seen[heading] = true
		b.WriteString(heading + "\n")
	}
	return b.String()
}

// takeHeadings reads stored headings.
func takeHeadings(stored, language string) ([]search.Name, error) {
	var list []search.Name
	for heading := range strings.Lines(stored) {
		list = append(list, search.MakeName(strings.TrimSuffix(heading, "\n"), language))
	}
	return list, nil
}

// bestHeading returns how much a heading makes a page the answer to a query. As with titles,
// the square separates the heading that equals the query from those that share words with it.
func bestHeading(headings []search.Name, words []query.Word) (best float64) {
	for i := range headings {
		best = max(best, headings[i].Overlap(words))
	}
	return headingMost * best * best
}

// headingSum is a sum of hashes of the headings of documents.
type headingSum uint64

func (s *headingSum) add(cluster []byte, headings string) {
	h := xxhash.New()
	h.Write(cluster) // a hash never fails
	h.WriteString(headings)
	*s += headingSum(h.Sum64())
}

// storedHeadings returns the sum over all documents in the table docs.
func (v *View) storedHeadings(ctx context.Context) (s headingSum, err error) {
	rows, err := v.tx.QueryContext(ctx, "SELECT cluster, headings FROM docs")
	err = eachRow(rows, err, func() error {
		var cluster sql.RawBytes
		var headings string
		err := rows.Scan(&cluster, &headings)
		s.add(cluster, headings)
		return err
	})
	return s, err
}
