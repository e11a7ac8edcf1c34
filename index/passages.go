package index

import (
	"context"
	"database/sql"

	"github.com/webindexer/indexer/index/search"
)

const selectHeads = "SELECT j.key, d.title, d.head FROM json_each(?) j CROSS JOIN docs d ON d.id=j.value"

// Passages looks into the heads of the texts of documents.
func (s *viewShard) Passages(ctx context.Context, q *search.PassagesQuestion) ([]float64, error) {
	counts := make([]float64, len(q.IDs))
	rows, err := s.queryIDs(ctx, selectHeads, q.IDs)
	return counts, eachRow(rows, err, func() error {
		var i int
		var title, head sql.RawBytes // valid until the next row
		err := rows.Scan(&i, &title, &head)
		if err != nil {
			return err
		}
		text, err := unpack(head)
		if err == nil {
			counts[i] = q.Count(string(title), text)
		}
		return err
	})
}
