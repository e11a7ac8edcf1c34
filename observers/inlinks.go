package observers

import (
	"cmp"
	"context"
	"math"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Inlink is one entry of a cluster's inverted links (semantics.md section 5).
type Inlink struct {
	Source page.URL `json:"source"`
	Target page.URL `json:"target"`
	Anchor string   `json:"anchor"`
}

// inlinkVisit is a visit of the link rows of a cluster that can be made in parts, each at
// a snapshot of its own.
type inlinkVisit struct {
	key    page.ContentKey
	inside *insiders // nil before the first part
	// Where to go on: at this member's row, without the content key, and there at this
	// pair row; "" is the first.
	member, pair string
}

func newInlinkVisit(key page.ContentKey) *inlinkVisit { return &inlinkVisit{key: key} }

const noLimit = math.MaxInt

// place is where the link row that is being visited stands.
func (v *inlinkVisit) place(row string) linkPlace { return linkPlace{v.member, row} }

// rows visits some more link rows, and says whether that was all: looking for the link rows
// of a member, and each of the rows, takes one of what is left. If fn ends the visit with
// txn.ErrStop, it is as if there were no more.
func (v *inlinkVisit) rows(ctx context.Context, tx *txn.Txn, left *int, fn func(target page.URL, row string, anchors []string) error) (all bool, err error) {
	if v.inside == nil {
		if v.inside, err = readInsiders(ctx, tx, v.key); err != nil {
			return false, err
		}
	}
	cluster, more := schema.ClusterRow(v.key), false
	err = tx.Scan(ctx, schema.GroupMember, cluster+v.member, txn.PrefixEnd(cluster), func(row string, _ []txn.Version) error {
		if at := row[len(cluster):]; at != v.member {
			v.member, v.pair = at, ""
		}
		if v.pair == "" {
			*left--
		}
		if *left < 0 {
			more = true
			return txn.ErrStop
		}
		_, m, err := schema.ParseMemberRow(row)
		if err != nil {
			return err
		}
		if more, err = v.of(ctx, tx, m.URL, left, fn); more && err == nil {
			err = txn.ErrStop
		}
		return err
	})
	return !more, err
}

// of visits the link rows of one target, and says whether there are more than left. What
// fn returns is returned.
func (v *inlinkVisit) of(ctx context.Context, tx *txn.Txn, target page.URL, left *int, fn func(target page.URL, row string, anchors []string) error) (more bool, err error) {
	prefix := schema.PairPrefix(target)
	var stop error // a scan does not return it if it is txn.ErrStop
	err = tx.Scan(ctx, schema.GroupLink, max(v.pair, prefix), txn.PrefixEnd(prefix), func(row string, cols []txn.Version) error {
		if *left--; *left < 0 {
			v.pair, more = row, true
			return txn.ErrStop
		}
		inside, err := v.inside.has(ctx, tx, schema.PairSource(row))
		if err != nil || inside {
			return err
		}
		anchors, err := schema.AnchorsIn(cols)
		if err == nil {
			err = fn(target, row, anchors)
			stop = err
		}
		return err
	})
	return more, cmp.Or(err, stop)
}

// insiders are the members of a cluster, whose links to each other are no inlinks: by
// the row of each, or, of a cluster with many, by where their walks lead. Both are of one
// transaction (cluster.go), so they say the same.
type insiders struct {
	key  page.ContentKey
	rows map[string]bool // nil: too many
}

// readInsiders reads the members whose links a visit leaves out.
func readInsiders(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*insiders, error) {
	in := &insiders{key: key, rows: make(map[string]bool)}
	next, err := VisitMembers(ctx, tx, key, "", giantMembers, func(m schema.MemberInfo) error {
		in.rows[schema.URLRow(m.URL)] = true
		return nil
	})
	if next != "" {
		in.rows = nil
	}
	return in, err
}

// has reports whether the URL of a row is a member.
func (in *insiders) has(ctx context.Context, tx *txn.Txn, row string) (bool, error) {
	if in.rows != nil {
		return in.rows[row], nil
	}
	v, err := tx.GetOnce(ctx, row, schema.Chain)
	if err != nil {
		return false, err
	}
	walk, err := schema.DecodeChain(v.Data)
	if err != nil {
		return false, err
	}
	end, ok := terminal(walk)
	return ok && end.Key == in.key, nil
}

// giantMembers is how many members a cluster has that is read whole. A variable for tests.
var giantMembers = 512
