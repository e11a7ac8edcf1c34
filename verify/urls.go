package verify

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// compareURLs compares state and chain of every URL, and checks that no work is
// unfinished.
func (v *verifier) compareURLs(ctx context.Context) error {
	seen := make(map[page.URL]bool)
	err := v.scan(ctx, schema.GroupURL, func(row string, cols []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		seen[u] = true
		return v.compareURL(u, cols)
	})
	for u := range v.batch.URLs() {
		if !seen[u.URL] && hasState(u) {
			v.rep.add(schema.GroupURL, string(u.URL), schema.State.Name, "", u.Document.Outcome.String())
		}
	}
	return err
}

// hasState reports whether the document observer stores a state for u, which it does if a
// fetch is in force.
func hasState(u *batch.URL) bool {
	return u.Document.Outcome != page.Unfetched && u.Document.Outcome != page.Failed
}

func (v *verifier) compareURL(u page.URL, cols []txn.Version) error {
	v.rep.Checked["urls"]++
	var state schema.URLState
	var chain schema.StoredChain
	var err error
	for _, c := range cols {
		switch c.Name {
		case schema.State.Name:
			state, err = schema.DecodeURLState(c.Data)
		case schema.Chain.Name:
			chain, err = schema.DecodeChain(c.Data)
		case schema.Pending.Name, schema.Propagated.Name, schema.Inversion.Name:
			v.rep.add(schema.GroupURL, string(u), c.Name, "work left over", "")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", u, err)
		}
	}
	want := v.batch.URL(u)
	if want == nil {
		want = &batch.URL{URL: u}
	}
	if computed := v.state(want); state != computed {
		v.rep.add(schema.GroupURL, string(u), schema.State.Name, describeState(state), describeState(computed))
	}
	v.compareWay(u, observers.WayOfChain(chain), want)
	return nil
}

func describeState(s schema.URLState) string {
	return fmt.Sprintf("%s noindex=%t nofollow=%t target=%q key=%s sum=%x", s.Outcome, s.NoIndex, s.NoFollow, s.Target, short(s.Key), s.Sum)
}

func short(k page.ContentKey) string { return hex.EncodeToString(k[:6]) }

func (v *verifier) compareWay(u page.URL, stored observers.Way, want *batch.URL) {
	var cluster string
	if want.Cluster != nil {
		cluster = hex.EncodeToString(want.Cluster.Key[:])
	}
	var storedCluster string
	if stored.HasTerminal {
		storedCluster = hex.EncodeToString(stored.Cluster[:])
	}
	column := schema.Chain.Name
	v.rep.same(schema.GroupURL, string(u), column+" (leads to)", string(stored.LeadsTo), string(want.Lead))
	v.rep.same(schema.GroupURL, string(u), column+" (terminal)", string(stored.Terminal), string(want.Terminal))
	v.rep.same(schema.GroupURL, string(u), column+" (cluster)", storedCluster, cluster)
}
