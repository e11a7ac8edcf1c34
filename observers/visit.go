package observers

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/webindexer/indexer/internal/wire"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Cursor says where to continue a visit of a long list. "" is the beginning and, as a
// result of a visit, the end. Any other cursor is text that fits into a URL or a
// command line, and has a meaning only for the function that returned it. Visits at
// different timestamps may or may not see what comes or goes between these timestamps;
// they see everything else exactly once.
type Cursor string

// ErrCursor reports a cursor that no visit has returned.
var ErrCursor = errors.New("not a cursor of this list")

// Inlink is one entry of a cluster's inverted links (semantics.md section 5).
type Inlink struct {
	Source page.URL `json:"source"`
	Target page.URL `json:"target"`
	Anchor string   `json:"anchor"`
}

// Head is an index document at a snapshot (semantics.md section 7) without its lists,
// which may be long: VisitMembers and VisitClusterInlinks visit them.
type Head struct {
	Canonical page.URL // "" if the cluster is not in the index; then only Members is set
	Text      schema.StoredText
	FetchedAt time.Time
	Rank      float64
	Members   int
}

// ReadHead reads the head of a cluster's document at the transaction's snapshot. If the
// cluster has many members, it reads only a few.
func ReadHead(ctx context.Context, tx *txn.Txn, key page.ContentKey) (h Head, err error) {
	c, err := chooseNow(ctx, tx, key)
	if err != nil {
		return Head{}, err
	}
	h = Head{Canonical: c.Canonical, Rank: c.Rank, Members: c.Members}
	if h.Canonical == "" {
		return h, nil
	}
	if h.Text, err = TextOf(ctx, tx, h.Canonical); err != nil {
		return Head{}, err
	}
	h.FetchedAt, err = FetchedAt(ctx, tx, h.Canonical)
	return h, err
}

// noLimit is the limit of a visit that has none.
const noLimit = math.MaxInt

// VisitMembers calls fn for up to limit members of a cluster in the order of preference
// (schema.MemberRow), and returns where to continue. It reads that many rows, and keeps
// none of them in memory.
func VisitMembers(ctx context.Context, tx *txn.Txn, key page.ContentKey, from Cursor, limit int, fn func(schema.MemberInfo) error) (Cursor, error) {
	parts, err := from.open(1)
	if err != nil {
		return "", err
	}
	cluster := schema.ClusterRow(key)
	n, next := 0, Cursor("")
	err = tx.Scan(ctx, schema.GroupMember, cluster+parts[0], txn.PrefixEnd(cluster), func(row string, _ []txn.Version) error {
		if n == limit {
			next = cursor(row[len(cluster):])
			return txn.ErrStop
		}
		n++
		_, m, err := schema.ParseMemberRow(row)
		if err != nil {
			return err
		}
		return fn(m)
	})
	return next, err
}

// VisitClusterInlinks calls fn for up to limit inlinks of a cluster (semantics.md section
// 5), by target in the order of preference, then by source in row order, then by anchor,
// and returns where to continue. Members without inlinks cost one read each and do not
// count. A cursor holds the place of a link row, and how many of its anchors were visited.
func VisitClusterInlinks(ctx context.Context, tx *txn.Txn, key page.ContentKey, from Cursor, limit int, fn func(Inlink) error) (Cursor, error) {
	parts, err := from.open(3)
	if err != nil {
		return "", err
	}
	at := document.Place{Member: parts[0], Link: parts[1]}
	skip := uint64(0)
	if parts[2] != "" {
		k := 0
		if skip, k = binary.Uvarint([]byte(parts[2])); k != len(parts[2]) {
			return "", fmt.Errorf("%w: %q", ErrCursor, from)
		}
	}
	n, left := 0, noLimit
	for l, err := range document.InlinksFrom(at, document.Limits{}).Next(ctx, clusterReader{tx: tx, key: key}, &left) {
		if err != nil {
			return "", err
		}
		done := uint64(0)
		if l.Place.Link == at.Link {
			done = min(skip, uint64(len(l.Anchors)))
		}
		for i, anchor := range l.Anchors[done:] {
			if n == limit {
				return cursor(l.Place.Member, l.Place.Link, string(binary.AppendUvarint(nil, done+uint64(i)))), nil
			}
			n++
			if err := fn(Inlink{l.Source, l.Target, anchor}); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

// cursor packs strings into a cursor.
func cursor(parts ...string) Cursor {
	var b []byte
	for _, p := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
	}
	return Cursor(base64.RawURLEncoding.EncodeToString(b))
}

// open unpacks a cursor into the given number of strings.
func (c Cursor) open(parts int) ([]string, error) {
	list := make([]string, parts)
	if c == "" {
		return list, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(string(c))
	if err != nil {
		return nil, fmt.Errorf("%w: %.40q", ErrCursor, c)
	}
	d := wire.NewDecoder(b)
	for i := range list {
		list[i] = d.Text()
	}
	if d.Failed() || len(d.Rest()) > 0 {
		return nil, fmt.Errorf("%w: %.40q", ErrCursor, c)
	}
	return list, nil
}
