package observers

import (
	"context"
	"errors"

	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// readSummaries reads the member summaries of a cluster. There are none for a cluster
// that is read whole; then it reads only one row.
func readSummaries(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*cluster.Summaries, error) {
	s := &cluster.Summaries{}
	row := schema.ClusterRow(key)
	first, err := tx.Get(ctx, row, schema.Summary)
	if err != nil || !first.Exists {
		return s, err
	}
	err = tx.ScanPrefix(ctx, schema.GroupSummary, row, func(row string, cols []txn.Version) error {
		stored, err := schema.DecodeSummary(cols[0].Data)
		_, at := schema.SplitMemberRow(row)
		s.Parts = append(s.Parts, cluster.Part{At: at, Summary: cluster.Summary(stored)})
		return err
	})
	return s, err
}

// choose chooses the canonical URL of a cluster some of whose members have changed. If the
// cluster is a giant, it renews the summaries of these members first. It returns nil if there
// cannot be a choice yet; in that case it has woken the observer that makes one possible.
func (x *reranker) choose(ctx context.Context, tx *txn.Txn, budget *cluster.Budget, key page.ContentKey, positions []string) (*choice, error) {
	s, err := readSummaries(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	if len(s.Parts) == 0 {
		d, err := readCluster(ctx, tx, key, x.limits)
		if err == nil {
			budget.Read(d.Members, len(positions))
		}
		if !errors.Is(err, cluster.ErrIncomplete) {
			return d, err
		}
		s.Begin(budget)
		positions = append(positions, "")
	}
	m, err := readMembers(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	renewal, err := s.Renew(ctx, m, budget, positions)
	if err != nil {
		return nil, err
	}
	writeRenewal(tx, key, renewal)
	switch total := s.Total(); {
	case total.Incomplete:
		return nil, nil
	case x.limits.Small(total.Members):
		writeRenewal(tx, key, s.End(budget))
		return nil, nil
	}
	c, err := s.Choose(ctx, m, m.tolerance, x.limits)
	if outdated, ok := errors.AsType[*cluster.OutdatedError](err); ok { // leave it to another run; our positions may lie between two others
		tx.Notify(schema.SummaryRow(key, outdated.At), schema.Ranked)
		budget.Wrote(1)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	x.tracker.searchable(memberURLRows(key, positions))
	return breakTie(ctx, tx, key, c)
}

// memberURLRows returns the URL rows of the members at these positions.
func memberURLRows(key page.ContentKey, positions []string) (rows []string) {
	for _, at := range positions {
		if _, m, err := schema.ParseMemberRow(schema.SummaryRow(key, at)); err == nil { // else it is not a member's
			rows = append(rows, schema.URLRow(m.URL))
		}
	}
	return rows
}

// writeRenewal writes renewed summaries of a cluster, and wakes the observers that have
// to continue.
func writeRenewal(tx *txn.Txn, key page.ContentKey, r *cluster.Renewal) {
	for _, w := range r.Writes {
		row := schema.SummaryRow(key, w.At)
		if w.Delete {
			tx.Delete(row, schema.Summary)
		} else {
			tx.Set(row, schema.Summary, schema.StoredSummary(w.Summary).Encode())
		}
	}
	for _, at := range r.Again {
		tx.Notify(schema.SummaryRow(key, at), schema.Ranked)
	}
	if r.Notify {
		tx.Notify(schema.ClusterRow(key), schema.Dirty)
	}
}
