// Package cluster decides which URLs belong together, and which of them represents the
// others (semantics.md section 4):
//
//   - A chain follows a URL along redirects and canonical links to its terminal, whose
//     content key names the cluster of the URL (chain.go).
//   - The canonical URL of a cluster is the most preferred member whose rank is about the
//     highest (canonical.go).
//   - Where the known ranks are too coarse to decide, exact ranks break the tie (tiebreak.go).
//   - A giant cluster has summaries, so that a change of one member does not require
//     reading all of them (summary.go, renew.go, check.go).
//
// The package stores nothing. It reads members through [Reader], returns the necessary
// writes, and knows nothing about tables, transactions or observers.
package cluster

import (
	"cmp"
	"context"
	"iter"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/page"
)

// Member is a URL whose terminal has the content key of the cluster.
type Member struct {
	URL page.URL
	// Eligible members can be the canonical URL: they are their own terminal and not
	// noindex.
	Eligible bool
}

// Ranked is a member with its published rank, and the bounds between which its exact rank
// lies.
type Ranked struct {
	Member
	Linked      bool // whether something links to it; otherwise its rank is exact
	Rank        float64
	Least, Most float64
}

// Unlinked returns a member that nothing links to.
func Unlinked(m Member) Ranked {
	return Ranked{m, false, rank.Teleport, rank.Teleport, rank.Teleport}
}

// Linked returns a member that something links to, whose rank was published within a tolerance.
func Linked(m Member, r, tolerance float64) Ranked {
	return Ranked{m, true, r, least(r, tolerance), most(r, tolerance)}
}

func least(r, tolerance float64) float64 { return r / (1 + tolerance) }
func most(r, tolerance float64) float64  { return r / (1 - tolerance) }

// Entry is a member and its position in the cluster. Positions are strings whose byte order
// is the order of preference of semantics.md section 4; "" is before all members.
type Entry struct {
	At string
	Ranked
}

// Reader reads the members of one cluster.
type Reader interface {
	// Members yields the members from position from up to, but without, position to, in
	// the order of preference. If to is "", it continues to the last member. An error
	// ends the sequence.
	Members(ctx context.Context, from, to string) iter.Seq2[Entry, error]
}

// Limits bound what is read and written at a time. They change the cost, never the result.
// A field that is zero has its default.
type Limits struct {
	// Giant is the largest number of members of a cluster that is read whole; a larger
	// cluster gets summaries. It loses them at half this size, so that a cluster whose
	// size hovers around the limit does not change back and forth. Default: 512.
	Giant int
	// Largest is the largest number of members of a renewed summary. A larger summary is
	// split. Default: 128.
	Largest int
	// Split is the number of members in each part of a summary that is split. Default: 64.
	Split int
	// Smallest is the smallest number of members of a summary. A smaller summary is
	// merged with its neighbour. Default: 32.
	Smallest int
	// Read is the number of members that are read at once to renew a summary. The members
	// beyond them become another summary, which is incomplete. Default: 1,024.
	Read int
	// Run is the number of members after which a run leaves the rest to the next one.
	// Default: 4,096.
	Run int
	// Writes is the largest number of mutations of a run. Default: 600.
	Writes int
}

// WithDefaults replaces zero values with the defaults.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Giant:    cmp.Or(l.Giant, 512),
		Largest:  cmp.Or(l.Largest, 128),
		Split:    cmp.Or(l.Split, 64),
		Smallest: cmp.Or(l.Smallest, 32),
		Read:     cmp.Or(l.Read, 1024),
		Run:      cmp.Or(l.Run, 4096),
		Writes:   cmp.Or(l.Writes, 600),
	}
}

// Small reports whether a cluster with summaries has so few members that it needs none.
func (l Limits) Small(members int) bool { return members <= l.WithDefaults().Giant/2 }
