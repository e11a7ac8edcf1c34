package observers

import (
	"context"
	"errors"

	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// choice is what ranks decide about a cluster at a snapshot.
type choice struct {
	document.Choice
	// undecided is a tie that settle has to break, or nil if there is none.
	undecided *schema.StoredChoice
	// members are all members, in the order of preference, or nil if they are too many to
	// remember.
	members []document.Member
}

// readCluster chooses the canonical URL of a cluster, from its summaries if it has any. For
// a giant cluster it can also fail with cluster.ErrIncomplete or a cluster.OutdatedError.
func readCluster(ctx context.Context, tx *txn.Txn, key page.ContentKey, limits cluster.Limits) (*choice, error) {
	s, err := readSummaries(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	m, err := readMembers(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	var c cluster.Choice
	var all []document.Member
	if len(s.Parts) > 0 {
		c, err = s.Choose(ctx, m, m.tolerance, limits)
	} else {
		c, all, err = m.choose(ctx, limits.WithDefaults().Giant)
	}
	if err != nil {
		return nil, err
	}
	broken, err := breakTie(ctx, tx, key, c)
	if err != nil {
		return nil, err
	}
	broken.members = all
	return broken, nil
}

// chooseNow does what readCluster does, without the two errors that mean "later": if the
// summaries cannot decide, it reads all members twice.
func chooseNow(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*choice, error) {
	c, err := readCluster(ctx, tx, key, cluster.Limits{})
	if _, outdated := errors.AsType[*cluster.OutdatedError](err); !outdated && !errors.Is(err, cluster.ErrIncomplete) {
		return c, err
	}
	m, err := readMembers(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	all, err := cluster.Choose(m.all(ctx))
	if err != nil {
		return nil, err
	}
	return breakTie(ctx, tx, key, all)
}

// breakTie replaces a contested choice with the one that settle has made among the same
// candidates.
func breakTie(ctx context.Context, tx *txn.Txn, key page.ContentKey, c cluster.Choice) (*choice, error) {
	broken := &choice{Choice: document.Choice{Canonical: c.Canonical, Members: c.Members, Rank: c.Rank}}
	if !c.Contested {
		return broken, nil
	}
	stored, known, err := readChoice(ctx, tx, schema.ClusterRow(key))
	switch {
	case err != nil:
		return nil, err
	case !known || stored.Among != c.Among.Bytes():
		broken.undecided = &schema.StoredChoice{Among: c.Among.Bytes()}
	case stored.URL != "":
		broken.Canonical = stored.URL
	}
	return broken, nil
}

// contest registers a cluster whose tie settle has to break.
func (c *choice) contest(tx *txn.Txn, row string) {
	if c.undecided != nil {
		tx.Set(row, schema.Choice, c.undecided.Encode())
		tx.Notify(schema.AppRow, schema.Tiebreak)
	}
}

// readChoice reads the choice that settle has made for the cluster of a row. It returns
// false if the cluster is not registered as contested.
func readChoice(ctx context.Context, tx *txn.Txn, row string) (schema.StoredChoice, bool, error) {
	v, err := tx.Get(ctx, row, schema.Choice)
	if err != nil || !v.Exists {
		return schema.StoredChoice{}, false, err
	}
	c, err := schema.DecodeChoice(v.Data)
	return c, true, err
}

// BrokenTie returns the canonical URL that settle has chosen among the candidates of a
// contested cluster, or "" if it has not chosen yet.
func BrokenTie(ctx context.Context, tx *txn.Txn, key page.ContentKey, among cluster.Candidates) (page.URL, error) {
	stored, known, err := readChoice(ctx, tx, schema.ClusterRow(key))
	if err != nil || !known || stored.Among != among.Bytes() {
		return "", err
	}
	return stored.URL, nil
}
