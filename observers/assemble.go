package observers

import (
	"context"
	"crypto/sha256"
	"hash"
	"slices"
	"time"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Assembled is an index document as a snapshot has it (semantics.md section 7),
// without its inlinks, which may be many: Inlinks visits them.
type Assembled struct {
	Canonical page.URL // "" if the cluster is not in the index
	Members   []page.URL
	Text      schema.StoredText
	FetchedAt time.Time
	Rank      float64
	Inlinks   int
	Sum       [8]byte // digest of all but times and rank

	anchors anchorCount
}

// Assemble reads the document of a cluster at the transaction's snapshot.
func Assemble(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*Assembled, error) {
	members, err := Members(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	d := &Assembled{Canonical: canonical(members)}
	for _, m := range members {
		d.Members = append(d.Members, m.URL)
		d.Rank += m.Rank
	}
	if d.Canonical == "" {
		return d, nil
	}
	slices.Sort(d.Members)
	if d.Text, err = readText(ctx, tx, d.Canonical); err != nil {
		return nil, err
	}
	if d.FetchedAt, err = FetchedAt(ctx, tx, d.Canonical); err != nil {
		return nil, err
	}
	sum := sha256.New()
	d.hashPage(sum)
	err = VisitInlinks(ctx, tx, d.Members, func(l Inlink) error {
		d.Inlinks++
		d.anchors.add(l.Anchor)
		hashStrings(sum, string(l.Source), string(l.Target), l.Anchor)
		return nil
	})
	copy(d.Sum[:], sum.Sum(nil))
	return d, err
}

func (d *Assembled) hashPage(h hash.Hash) {
	hashStrings(h, string(d.Canonical), d.Text.Title, d.Text.Language, d.Text.Text)
	for _, m := range d.Members {
		hashStrings(h, string(m))
	}
}

func hashStrings(h hash.Hash, list ...string) {
	for _, s := range list {
		h.Write([]byte(s)) // a hash never fails
		h.Write([]byte{0})
	}
}

// RankedMember is a member of a cluster with its rank.
type RankedMember struct {
	schema.MemberInfo
	Rank float64
}

// initialRank is the rank of every URL until ranks are computed (semantics.md
// section 6: the part of a rank that does not come from links).
const initialRank = 0.15

// Members lists the members of a cluster in the order of preference.
func Members(ctx context.Context, tx *txn.Txn, key page.ContentKey) ([]RankedMember, error) {
	var members []RankedMember
	err := tx.ScanPrefix(ctx, schema.GroupMember, schema.ClusterRow(key), func(row string, _ []txn.Version) error {
		_, m, err := schema.ParseMemberRow(row)
		members = append(members, RankedMember{MemberInfo: m, Rank: initialRank})
		return err
	})
	return members, err
}

// rankTolerance: of the eligible members, those count whose rank is at least so
// much of the highest (semantics.md section 4).
const rankTolerance = 0.99

// canonical is the canonical URL of a cluster with these members, "" if there
// is none. Members come in the order of preference, so of those with a rank
// about the highest it is the first.
func canonical(members []RankedMember) page.URL {
	highest := 0.0
	for _, m := range members {
		if m.Eligible {
			highest = max(highest, m.Rank)
		}
	}
	for _, m := range members {
		if m.Eligible && m.Rank >= rankTolerance*highest {
			return m.URL
		}
	}
	return ""
}

func readText(ctx context.Context, tx *txn.Txn, u page.URL) (schema.StoredText, error) {
	v, err := tx.Get(ctx, schema.URLRow(u), schema.Text)
	if err != nil || !v.Exists {
		return schema.StoredText{}, err
	}
	return schema.DecodeText(v.Data)
}

// FetchedAt is the time shown for a URL: of the fetch in force, or of a later
// revisit.
func FetchedAt(ctx context.Context, tx *txn.Txn, u page.URL) (time.Time, error) {
	row := schema.URLRow(u)
	if _, err := tx.GetRow(ctx, row, schema.GroupFetch); err != nil {
		return time.Time{}, err
	}
	var shown time.Time
	inForce, err := tx.Get(ctx, row, schema.FetchTime)
	if err != nil {
		return shown, err
	}
	if inForce.Exists {
		stamp, err := schema.DecodeFetchStamp(inForce.Data)
		if err != nil {
			return shown, err
		}
		shown = stamp.Time
	}
	seen, err := tx.Get(ctx, row, schema.FetchSeen)
	if err != nil || !seen.Exists {
		return shown, err
	}
	t, err := schema.DecodeTime(seen.Data)
	if t.After(shown) {
		shown = t
	}
	return shown, err
}
