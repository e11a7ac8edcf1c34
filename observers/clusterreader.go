package observers

import (
	"context"
	"iter"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// clusterReader reads everything that the document of a cluster depends on, at the
// snapshot of a transaction. The position of a member is its row without the content
// key, and that of a link its pair row. (The digest of a document covers pair rows.)
type clusterReader struct {
	tx  *txn.Txn
	key page.ContentKey
	// members are all members at the snapshot, in order, or nil if they have not been read.
	members []document.Member
}

var _ document.Reader = clusterReader{}

func (r clusterReader) Members(ctx context.Context, from string) iter.Seq2[document.Member, error] {
	if r.members != nil {
		return r.remembered(from)
	}
	cluster := schema.ClusterRow(r.key)
	return scan(ctx, r.tx, schema.GroupMember, cluster+from, cluster, func(row string, _ []txn.Version) (document.Member, error) {
		_, m, err := schema.ParseMemberRow(row)
		return document.Member{At: row[len(cluster):], URL: m.URL}, err
	})
}

// remembered yields the members that have been read, from a position on.
func (r clusterReader) remembered(from string) iter.Seq2[document.Member, error] {
	return func(yield func(document.Member, error) bool) {
		for _, m := range r.members {
			if m.At >= from && !yield(m, nil) {
				return
			}
		}
	}
}

func (r clusterReader) Links(ctx context.Context, target page.URL, from string) iter.Seq2[document.Link, error] {
	prefix := schema.PairPrefix(target)
	return scan(ctx, r.tx, schema.GroupLink, max(from, prefix), prefix, func(row string, cols []txn.Version) (document.Link, error) {
		l := document.Link{Place: document.Place{Link: row}, Target: target}
		var err error
		if l.Source, err = schema.ParseURLRow(schema.PairSource(row)); err != nil {
			return l, err
		}
		l.OtherSite = index.FromOtherSite(l.Source, target)
		l.Anchors, err = schema.AnchorsIn(cols)
		return l, err
	})
}

// scan yields what read makes of the rows with a prefix, beginning with the row from.
func scan[T any](ctx context.Context, tx *txn.Txn, group, from, prefix string, read func(row string, cols []txn.Version) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := tx.Scan(ctx, group, from, txn.PrefixEnd(prefix), func(row string, cols []txn.Version) error {
			v, err := read(row, cols)
			if !yield(v, err) || err != nil {
				return txn.ErrStop
			}
			return nil
		})
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// IsMember reads where the URL leads. One transaction writes that and the member rows
// (cluster.go), so they agree.
func (r clusterReader) IsMember(ctx context.Context, u page.URL) (bool, error) {
	end, ok, err := terminalOf(ctx, r.tx, u)
	return ok && end.Key == r.key, err
}

func (r clusterReader) Rank(ctx context.Context, u page.URL) (float64, error) {
	s, err := rankStateOnce(ctx, r.tx, schema.URLRow(u))
	return s.Rank, err
}

func (r clusterReader) Text(ctx context.Context, u page.URL) (document.Text, error) {
	t, err := TextOf(ctx, r.tx, u)
	return document.Text(t), err
}

func (r clusterReader) FetchedAt(ctx context.Context, u page.URL) (time.Time, error) {
	return FetchedAt(ctx, r.tx, u)
}
