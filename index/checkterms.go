package index

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/cespare/xxhash/v2"
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

// addDocument adds the terms of a document.
func (s *termSums) addDocument(d *Document) {
	c := textOf(d).Analyze()
	for column, text := range map[string]string{"title": c.Title, "body": c.Body, "anchors": c.Anchors, "outside": c.Outside, "url": c.URL, "tags": c.Tags} {
		seen := make(map[string]bool)
		for term := range strings.FieldsSeq(text) {
			documents := int64(0)
			if !seen[term] {
				seen[term], documents = true, 1
			}
			s.add(column, []byte(term), 1, documents)
		}
	}
}

// storedTerms are the sums over the full-text table. They need a temporary table in memory,
// which a read-only connection has to be allowed to make.
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
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var term, column sql.RawBytes
		var occurrences, documents int64
		if err := rows.Scan(&term, &column, &occurrences, &documents); err != nil {
			return s, err
		}
		s.add(string(column), term, occurrences, documents)
	}
	return s, rows.Err()
}
