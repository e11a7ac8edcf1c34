package index

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// The table sketches has a row for each document, with what shows whether two documents are
// alike. The rows are small, because a search reads those of all its candidates.
const sketchesSQL = `
CREATE TABLE sketches(id INTEGER PRIMARY KEY,
  sketch BLOB NOT NULL,          -- of the main content (index/sketch)
  translations INTEGER NOT NULL, -- equal for translations of one page, 0 for a page that names none
  sample BLOB NOT NULL           -- of the text (repeats.go): 2 bytes, little-endian, for each shingle
);
`

// translations returns a number that translations of one page have in common: a hash of all
// their URLs. The alternates of a page usually include the page itself. If none is in its language,
// its own URL counts as well. For a page that names no translations, translations returns 0.
func translations(d *Document, o *page.Outline) int64 {
	if len(o.Alternates) == 0 {
		return 0
	}
	language, self := analysis.PrimaryLanguage(d.Language), false
	urls := make([]page.URL, 0, len(o.Alternates)+1)
	for _, a := range o.Alternates {
		urls = append(urls, a.URL)
		self = self || a.URL == d.URL || language != "" && analysis.PrimaryLanguage(a.Language) == language
	}
	if !self {
		urls = append(urls, d.URL)
	}
	slices.Sort(urls)
	if urls = slices.Compact(urls); len(urls) < 2 {
		return 0
	}
	h := xxhash.New()
	for _, u := range urls {
		h.WriteString(string(u)) // a hash never fails
		h.Write([]byte{0})
	}
	return int64(max(h.Sum64(), 1))
}

const selectSketches = "SELECT j.key, s.sketch, s.translations, s.sample FROM json_each(?) j CROSS JOIN sketches s ON s.id=j.value"

// Sketches reads the rows of documents.
func (s *viewShard) Sketches(ctx context.Context, q *search.SketchesQuestion) ([]search.Sketched, error) {
	return getAll(ctx, s.v.cache.sketches, q.IDs, s.readSketches)
}

func (s *viewShard) readSketches(ctx context.Context, ids []int64, keep func(i int, found search.Sketched, size int)) error {
	rows, err := s.queryIDs(ctx, selectSketches, ids)
	return eachRow(rows, err, func() error {
		var i int
		var found search.Sketched
		if err := rows.Scan(&i, &found.Sketch, &found.Translations, &found.Sample); err != nil {
			return err
		}
		if len(found.Sketch) != sketch.Size {
			return fmt.Errorf("%w: a sketch of %d bytes", ErrCorrupt, len(found.Sketch))
		}
		keep(i, found, cacheEntry+len(found.Sketch)+len(found.Sample))
		return nil
	})
}

// putSketch writes the row of a document.
func (t *tables) putSketch(id int64, b *body) error {
	return t.exec("INSERT OR REPLACE INTO sketches(id, sketch, translations, sample) VALUES(?,?,?,?)", id, b.sketch[:], b.translations, b.sample)
}

// sketchSum is a sum of hashes of rows of the table sketches.
type sketchSum uint64

func (s *sketchSum) add(cluster, stored []byte, translations int64, sample []byte) {
	b := binary.LittleEndian.AppendUint64(slices.Concat(cluster, stored, sample), uint64(translations))
	*s += sketchSum(xxhash.Sum64(b))
}

// storedSketches returns the sum over the table.
func (v *View) storedSketches(ctx context.Context) (s sketchSum, err error) {
	rows, err := v.tx.QueryContext(ctx, "SELECT d.cluster, s.sketch, s.translations, s.sample FROM sketches s JOIN docs d ON d.id=s.id")
	err = eachRow(rows, err, func() error {
		var cluster, stored, sample sql.RawBytes
		var translations int64
		err := rows.Scan(&cluster, &stored, &translations, &sample)
		s.add(cluster, stored, translations, sample)
		return err
	})
	return s, err
}
