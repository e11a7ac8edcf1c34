package index

import (
	"context"
	"database/sql"

	"github.com/webindexer/indexer/index/search"
)

const (
	selectTexts = "SELECT j.key, d.title, d.url, d.anchors, d.head, d.rest IS NOT NULL FROM json_each(?) j CROSS JOIN docs d ON d.id=j.value"
	selectRests = "SELECT j.key, d.rest FROM json_each(?) j CROSS JOIN docs d ON d.id=j.value WHERE length(d.rest)<=?"
)

// Typed looks for words in the stored texts of documents. The rest of a long text is read only
// if its head lacks some of the words.
func (s *viewShard) Typed(ctx context.Context, q *search.TypedQuestion) ([]search.Typed, error) {
	lengths, err := s.v.lengths(ctx, q.IDs)
	if err != nil {
		return nil, err
	}
	looking := make([]*search.TypedWords, len(q.IDs))
	for i := range looking {
		looking[i] = q.Look(int64(lengths[i]))
	}
	var longer []int
	rows, err := s.queryIDs(ctx, selectTexts, q.IDs)
	err = eachRow(rows, err, func() error {
		var i int
		var title, url, anchors, head sql.RawBytes // valid until the next row
		var more bool
		if err := rows.Scan(&i, &title, &url, &anchors, &head, &more); err != nil {
			return err
		}
		text, err := unpack(head)
		if err == nil && looking[i].InHead(string(title), string(url), string(anchors), text, more) {
			longer = append(longer, i)
		}
		return err
	})
	if err == nil && len(longer) > 0 {
		err = s.typedInRests(ctx, q.IDs, longer, looking)
	}
	out := make([]search.Typed, len(q.IDs))
	for i := range out {
		out[i] = looking[i].Typed()
	}
	return out, err
}

// typedInRests continues in the rests of some of the texts.
func (s *viewShard) typedInRests(ctx context.Context, all []int64, longer []int, looking []*search.TypedWords) error {
	ids := make([]int64, len(longer))
	for i, at := range longer {
		ids[i] = all[at]
	}
	rows, err := s.queryIDs(ctx, selectRests, ids, search.MostRest)
	return eachRow(rows, err, func() error {
		var i int
		var rest sql.RawBytes
		if err := rows.Scan(&i, &rest); err != nil {
			return err
		}
		text, err := unpack(rest)
		if err == nil {
			looking[longer[i]].InRest(text)
		}
		return err
	})
}
