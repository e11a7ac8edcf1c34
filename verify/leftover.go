package verify

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// compareSummaries compares the member summaries of giant clusters with the members.
func (v *verifier) compareSummaries(ctx context.Context) (err error) {
	v.rep.Checked["member_summaries"], err = observers.CheckSummaries(ctx, v.tx, cluster.Limits{}, func(row, stored, computed string) {
		v.rep.add(schema.GroupSummary, readableMember(row), schema.Summary.Name, stored, computed)
	})
	if err != nil {
		return fmt.Errorf("member summaries of clusters: %w", err)
	}
	return nil
}

// readableMember formats the row of a cluster, or of a member, for people.
func readableMember(row string) string {
	if k, m, err := schema.ParseMemberRow(row); err == nil {
		return fmt.Sprintf("%s from %s", short(k), m.URL)
	}
	if k, err := schema.ParseClusterRow(row); err == nil {
		return short(k)
	}
	return fmt.Sprintf("%q", row)
}

// compareLeftOver reports work on ranks that was begun but that no observer will finish:
// corrections, and parts of a journal.
func (v *verifier) compareLeftOver(ctx context.Context) error {
	for _, c := range []txn.Column{schema.Correction, schema.RankJournal, schema.RankPart} {
		err := v.scan(ctx, c.Group, func(row string, cols []txn.Version) error {
			for _, cell := range cols {
				if cell.Name == c.Name {
					v.rep.add(c.Group, readableURL(row), c.Name, "work left over", "")
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s of ranks: %w", c.Name, err)
		}
	}
	return nil
}
