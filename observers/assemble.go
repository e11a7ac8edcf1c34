package observers

import (
	"context"
	"errors"

	"indexer/observers/document"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// choice is what ranks decide about a cluster at a snapshot.
type choice struct {
	document.Choice
	// undecided is a tie that settle has to break; nil if there is none.
	undecided *schema.StoredChoice
}

// readCluster reads what ranks decide about a cluster. Of a cluster with many members it
// reads the summaries and few members; then it can also fail with errUnread or a
// behindError.
func readCluster(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*choice, error) {
	s, err := readSections(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	if len(s.list) > 0 {
		return chooseBySummaries(ctx, tx, s)
	}
	members, more, err := membersUpTo(ctx, tx, key, giantMembers)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, errUnread
	}
	c := &choice{Choice: document.Choice{Members: len(members)}}
	for _, m := range members {
		c.Rank += m.Rank
	}
	contested := false
	c.Canonical, contested = choose(members)
	return c, c.breakTie(ctx, tx, key, contested, candidates(members))
}

// chooseBySummaries is readCluster for a cluster with summaries.
func chooseBySummaries(ctx context.Context, tx *txn.Txn, s *sections) (c *choice, err error) {
	c = &choice{Choice: document.Choice{Members: s.total.Members, Rank: s.total.Rank}}
	contested := false
	if c.Canonical, contested, err = s.choose(ctx, tx); err != nil {
		return nil, err
	}
	among := Candidates{s.total.Among}
	return c, c.breakTie(ctx, tx, s.key, contested, among.Sum())
}

// chooseNow is readCluster without its waiting errors: where the summaries cannot tell, it
// visits all members twice.
func chooseNow(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*choice, error) {
	c, err := readCluster(ctx, tx, key)
	var behind *behindError
	if errors.Is(err, errUnread) || errors.As(err, &behind) {
		return chooseAmongAll(ctx, tx, key)
	}
	return c, err
}

func chooseAmongAll(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*choice, error) {
	tolerance, err := RankTolerance(ctx, tx)
	if err != nil {
		return nil, err
	}
	c := &choice{}
	var best Choosing
	var among Candidates
	for _, visit := range []func(m *RankedMember) (stop bool){
		func(m *RankedMember) bool {
			c.Members++
			c.Rank += m.Rank
			best.Rank(m)
			among.Add(m)
			return false
		},
		best.Choose,
	} {
		_, err := VisitMembers(ctx, tx, key, "", noLimit, func(info schema.MemberInfo) error {
			m, err := RankMember(ctx, tx, info, tolerance)
			if err == nil && visit(&m) {
				err = txn.ErrStop
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	c.Canonical = best.Canonical
	return c, c.breakTie(ctx, tx, key, best.Contested, among.Sum())
}

// breakTie takes the canonical URL of a contested cluster that settle has chosen among the
// same candidates.
func (c *choice) breakTie(ctx context.Context, tx *txn.Txn, key page.ContentKey, contested bool, among [8]byte) error {
	if !contested {
		return nil
	}
	stored, known, err := readChoice(ctx, tx, schema.ClusterRow(key))
	switch {
	case err != nil:
		return err
	case !known || stored.Among != among:
		c.undecided = &schema.StoredChoice{Among: among}
	case stored.URL != "":
		c.Canonical = stored.URL
	}
	return nil
}

// contest registers a cluster whose tie settle has to break.
func (c *choice) contest(tx *txn.Txn, row string) {
	if c.undecided != nil {
		tx.Set(row, schema.Choice, c.undecided.Encode())
		tx.Notify(schema.AppRow, schema.Tiebreak)
	}
}

// giantMembers is how many members a cluster has that is read whole. A variable for tests.
var giantMembers = 512
