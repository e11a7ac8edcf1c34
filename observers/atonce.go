package observers

import (
	"bytes"
	"context"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// What document does at once
//
// cluster and links are separate observers because of two kinds of pages: those whose chain
// depends on other URLs, and those with very many links. Most pages are of neither kind. For
// these, document does the work of both observers in its own transaction, and wakes neither. That
// saves their notifications and acknowledgements, two transactions, and decoding the links again.
//
// # Why nothing is missed
//
// The chain of a URL without a target depends only on its own state, so there is no edge that
// would have to be committed before it is read (see the package comment). A run of cluster that
// began earlier has seen an older state. If it writes the chain, it conflicts with us, because
// we also write the chain: one of the two runs again. This is the reason for two rules:
//
//   - a known URL whose chain stays the same is left to cluster: without a write of ours, the
//     older run could commit after us;
//   - a new URL has no state, so no run of cluster writes its chain.
//
// The first links of a URL are inverted at once if they fit into one part. There were no links
// before, so no run of links, no inversion, and nothing pending. Later changes go to links,
// which compares with doc:inverted. forward notifies the clusters of the targets in a later
// transaction, as always; it finds the targets in doc:inverted (targets.go).
//
// The work of cluster for a URL with a target must not be done here: the pointer row that we
// write has to be committed before the chain of the target is read.

// atOnceLinks is the default of Limits.AtOnce. Pages beyond it are left to links.
const atOnceLinks = 1024

// resolveAtOnce does what cluster would do for the state of a URL that this transaction
// writes; known says whether the URL had a state before.
func resolveAtOnce(ctx context.Context, tx *txn.Txn, u page.URL, s schema.URLState, known bool) error {
	if s.Target != "" && s.Target != u {
		return nil
	}
	row := schema.URLRow(u)
	now := extend(u, s, nil)
	if !known {
		if now != nil {
			tx.Create(row, schema.Chain, now.Encode())
			moveMember(tx, u, nil, now)
		}
		tx.Handled(row, schema.State, clusterName)
		return nil
	}
	old, err := readChain(ctx, tx, row)
	if err != nil || bytes.Equal(old.Encode(), now.Encode()) {
		return err
	}
	tx.Set(row, schema.Chain, now.Encode())
	moveMember(tx, u, old, now)
	tx.Handled(row, schema.State, clusterName)
	return nil
}

// invertAtOnce does what links would do for the first links of a URL, which are one part.
func invertAtOnce(tx *txn.Txn, u page.URL, links []schema.TargetLinks, part []byte) {
	row := schema.URLRow(u)
	for _, l := range links {
		setAnchors(tx, schema.PairRow(l.Target, u), nil, [][]string{l.Anchors})
	}
	tx.Create(row, schema.Inverted, part)
	tx.Notify(row, schema.NotifyTargets)
	tx.Notify(row, schema.Discover)
	tx.Handled(row, schema.Links, linksName)
}

// DoneAtOnce reports whether the transaction that wrote a cell at the timestamp ts also did
// the observer's work for it: then it left what the observer would have written, at the same
// timestamp, or there was nothing to do.
func DoneAtOnce(ctx context.Context, tx *txn.Txn, observer, row string, ts uint64) (bool, error) {
	switch observer {
	case clusterName:
		chain, err := tx.GetOnce(ctx, row, schema.Chain)
		if err != nil || chain.Exists {
			return chain.TS == ts, err
		}
		s, known, err := readState(ctx, tx, row)
		return known && extend("", s, nil) == nil, err
	case linksName:
		inverted, err := tx.GetOnce(ctx, row, schema.Inverted)
		return inverted.Exists && inverted.TS == ts, err
	}
	return false, nil
}
