package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// Terms of the full-text table are compared by two sums over all entries: the occurrences
// of a term in a column, and the documents that have it there. If the sums differ from
// those of the documents as they are analysed today, entries are missing or superfluous.
// (The integrity check of FTS5 compares its lists with the texts only if it has the texts,
// and a contentless table has none.)
type termSums struct{ occurrences, documents uint64 }

func (s *termSums) add(column string, term []byte, occurrences, documents int64) {
	h := xxhash.New()
	h.WriteString(column) // a hash never fails
	h.Write([]byte{0})
	h.Write(term)
	sum := h.Sum64()
	s.occurrences += sum * uint64(occurrences)
	s.documents += sum * uint64(documents)
}

// analysed has sums over what the analysis makes of documents.
type analysed struct {
	terms    termSums
	sketches sketchSum
	repeats  repeatedTexts
	headings headingSum
}

// addDocument adds a document.
func (a *analysed) addDocument(d *Document) error {
	o, err := page.DecodeOutline(d.Outline, len(d.Text))
	if err != nil {
		return fmt.Errorf("%s: %w", d.URL, err)
	}
	var l likeness
	a.terms.addColumns(textOf(d, &o).AnalyzeWords(func(t *analysis.Token, _ string, from analysis.Source) { l.add(t, from) }))
	s, sample := l.main.Sketch(), l.stored()
	a.sketches.add(d.Cluster[:], s[:], translations(d, &o), sample)
	a.repeats.add(search.HostOf(d.URL), sample, 1)
	a.headings.add(d.Cluster[:], headingsOf(d, &o))
	return nil
}

// addColumns adds the terms of a document.
func (s *termSums) addColumns(c analysis.Columns) {
	for i, text := range c.Texts() {
		seen := make(map[string]bool)
		for term := range strings.FieldsSeq(text) {
			documents := int64(0)
			if !seen[term] {
				seen[term], documents = true, 1
			}
			s.add(analysis.ColumnNames[i], []byte(term), 1, documents)
		}
	}
}

// storedTerms returns the sums over the full-text table. They need a temporary table in
// memory, so storedTerms makes a read-only connection writable until it returns.
func (v *View) storedTerms(ctx context.Context) (s termSums, err error) {
	for _, do := range []string{"PRAGMA query_only=0", "CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, " + fullTextTable + ", 'col')"} {
		if _, err := v.tx.ExecContext(ctx, do); err != nil {
			return s, err
		}
	}
	defer func() {
		_, gone := v.tx.ExecContext(context.WithoutCancel(ctx), "DROP TABLE temp.terms")
		_, again := v.tx.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only=1")
		err = errors.Join(err, gone, again)
	}()
	rows, err := v.tx.QueryContext(ctx, "SELECT term, col, cnt, doc FROM temp.terms")
	err = eachRow(rows, err, func() error {
		var term, column sql.RawBytes
		var occurrences, documents int64
		err := rows.Scan(&term, &column, &occurrences, &documents)
		s.add(string(column), term, occurrences, documents)
		return err
	})
	return s, err
}
