package observers

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// CheckSummaries compares the member summaries of giant clusters with the members, in a
// table where no observer has anything left to do. It reports each difference: the row where
// the summary begins, what is stored there and what should be ("" for nothing). It returns
// the number of summaries that it has compared. Memory does not grow with the number of
// members.
//
// A giant cluster without summaries is not a difference: a version of the program without
// summaries may have written it, and it gets them when it changes.
func CheckSummaries(ctx context.Context, tx *txn.Txn, limits cluster.Limits, report func(row, stored, computed string)) (n int, err error) {
	tolerance, err := RankTolerance(ctx, tx)
	if err != nil {
		return 0, err
	}
	c := &summaryCheck{limits: limits, members: members{tx: tx, tolerance: tolerance, once: true}, report: report}
	err = tx.Scan(ctx, schema.GroupMember, "", "", func(row string, _ []txn.Version) error { return c.add(ctx, row) })
	c.endCluster()
	if err != nil {
		return c.n, err
	}
	return c.n, c.orphans(ctx)
}

// summaryCheck goes through the member rows of all clusters.
type summaryCheck struct {
	limits  cluster.Limits
	members members
	report  func(row, stored, computed string)
	n       int
	// the cluster
	row       string
	summaries *cluster.Summaries
	check     *cluster.Check
}

// add takes the next member row.
func (c *summaryCheck) add(ctx context.Context, row string) error {
	if of, _ := schema.SplitMemberRow(row); of != c.row {
		c.endCluster()
		if err := c.beginCluster(ctx, of); err != nil {
			return err
		}
	}
	if len(c.summaries.Parts) == 0 {
		return nil
	}
	e, err := c.members.entry(ctx, row)
	if err == nil {
		c.check.Add(&e)
	}
	return err
}

func (c *summaryCheck) beginCluster(ctx context.Context, row string) error {
	key, err := schema.ParseClusterRow(row)
	if err != nil {
		return err
	}
	s, err := readSummaries(ctx, c.members.tx, key)
	if err != nil {
		return err
	}
	c.row, c.summaries, c.n = row, s, c.n+len(s.Parts)
	c.check = cluster.NewCheck(s, func(at string, stored, computed cluster.Summary) {
		c.report(schema.SummaryRow(key, at), fmt.Sprintf("%+v", stored), fmt.Sprintf("%+v", computed))
	})
	return nil
}

func (c *summaryCheck) endCluster() {
	if c.check == nil || len(c.summaries.Parts) == 0 {
		return
	}
	if c.limits.Small(c.check.End()) {
		c.report(c.row, fmt.Sprintf("%d summaries", len(c.summaries.Parts)), "")
	}
}

// orphans finds summaries of clusters without members, and those of clusters without a
// first summary.
func (c *summaryCheck) orphans(ctx context.Context) error {
	last, known := "", false
	return c.members.tx.Scan(ctx, schema.GroupSummary, "", "", func(row string, _ []txn.Version) error {
		if of, _ := schema.SplitMemberRow(row); of != last {
			last, known = of, false
			if row == of { // the first summary of a cluster
				err := c.members.tx.ScanPrefix(ctx, schema.GroupMember, of, func(string, []txn.Version) error {
					known = true
					return txn.ErrStop
				})
				if err != nil {
					return err
				}
			}
		}
		if !known {
			c.report(row, "a summary", "")
		}
		return nil
	})
}
