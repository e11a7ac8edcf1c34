package observers

import (
	"context"
	"fmt"

	"indexer/schema"
	"indexer/txn"
)

// CheckSummaries compares the sections of giant clusters with the members that they are of,
// where nothing is left to do, and calls report for each that differs: with the member row
// it begins at, and what is and what should be there ("" for nothing). It returns how many
// there are. Memory does not grow with the number of members. That a giant has no sections is no
// difference: one from before there were any gets them when something of it changes.
func CheckSummaries(ctx context.Context, tx *txn.Txn, report func(row, stored, computed string)) (n int, err error) {
	c := &sectionCheck{tx: tx, report: report}
	if c.tolerance, err = RankTolerance(ctx, tx); err != nil {
		return 0, err
	}
	err = c.run(ctx)
	return c.n, err
}

// sectionCheck goes through the member rows and meets the sections on the way.
type sectionCheck struct {
	tx        *txn.Txn
	tolerance float64
	report    func(row, stored, computed string)
	n         int
	// the cluster
	cluster string
	list    *sections
	members int
	// its section
	at  int
	now schema.StoredSummary
}

func (c *sectionCheck) run(ctx context.Context) error {
	err := c.tx.Scan(ctx, schema.GroupMember, "", "", func(row string, _ []txn.Version) error {
		cluster, at := schema.SplitMemberRow(row)
		if cluster != c.cluster || c.list == nil {
			c.endCluster()
			if err := c.beginCluster(ctx, cluster); err != nil {
				return err
			}
		}
		c.members++
		if len(c.list.list) == 0 {
			return nil
		}
		for i := c.list.find(at); c.at < i; {
			c.endSection()
		}
		m, err := readRanked(ctx, c.tx, row, c.tolerance)
		addMember(&c.now, &m)
		return err
	})
	c.endCluster()
	if err != nil {
		return err
	}
	return c.ofNobody(ctx)
}

func (c *sectionCheck) beginCluster(ctx context.Context, cluster string) error {
	key, err := schema.ParseClusterRow(cluster)
	if err != nil {
		return err
	}
	c.cluster, c.members, c.at, c.now = cluster, 0, 0, schema.StoredSummary{}
	c.list, err = readSections(ctx, c.tx, key)
	return err
}

func (c *sectionCheck) endCluster() {
	if c.list == nil {
		return
	}
	if len(c.list.list) == 0 {
		return
	}
	if c.members <= giantMembers/2 {
		c.report(c.cluster, fmt.Sprintf("%d sections", len(c.list.list)), "")
	}
	for c.at < len(c.list.list) {
		c.endSection()
	}
}

func (c *sectionCheck) endSection() {
	c.n++
	stored := c.list.list[c.at].StoredSummary
	if stored != c.now {
		c.report(c.list.row(c.at), fmt.Sprintf("%+v", stored), fmt.Sprintf("%+v", c.now))
	}
	c.at++
	c.now = schema.StoredSummary{}
}

// ofNobody finds sections of clusters that have no members, and those before which none
// begins.
func (c *sectionCheck) ofNobody(ctx context.Context) error {
	last, known := "", false
	return c.tx.Scan(ctx, schema.GroupSummary, "", "", func(row string, _ []txn.Version) error {
		cluster, _ := schema.SplitMemberRow(row)
		if cluster != last {
			last, known = cluster, false
			if row == cluster {
				err := c.tx.ScanPrefix(ctx, schema.GroupMember, cluster, func(string, []txn.Version) error {
					known = true
					return txn.ErrStop
				})
				if err != nil {
					return err
				}
			}
		}
		if !known {
			c.report(row, "a section", "")
		}
		return nil
	})
}
