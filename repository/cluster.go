package repository

import (
	"context"
	"errors"

	"indexer/export"
	"indexer/observers"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// cluster is a cluster at a snapshot, or a URL that is in none, with however many members
// and inlinks. Neither are in memory: members, which come in the order of preference, are
// sorted outside of it, and links are read anew by whoever visits them.
//
// What is in memory is the sorter's share, rows of up to keptInside members, and what the
// transactions have read that reading hands out: so many cells, and no more.
type cluster struct {
	Canonical page.URL // "" if it is not in the index
	Rank      float64  // of all members
	Count     int      // of them

	ctx     context.Context
	reading *reading
	key     page.ContentKey
	scratch string // directory of sorters
	members *export.Sorter
	// inside are the rows of all members, to tell links between them from others; nil if
	// they are too many, and each source is looked up.
	inside map[string]bool
}

// keptInside is how many members are known by heart. A variable for tests.
var keptInside = 10_000

// memberMemory is what of the members is in memory, in bytes.
const memberMemory = 8 << 20

// newCluster prepares for clusters that are read one after the other; see read and
// readSingle. The caller closes it.
func newCluster(ctx context.Context, reading *reading, scratch string) *cluster {
	return &cluster{ctx: ctx, reading: reading, scratch: scratch, members: export.NewSorter(scratch, memberMemory)}
}

func (c *cluster) close() error { return c.members.Close() }

// reset forgets what was read before.
func (c *cluster) reset() error {
	c.Canonical, c.Rank, c.Count, c.key = "", 0, 0, page.ContentKey{}
	c.inside = make(map[string]bool)
	return c.members.Reset()
}

// readSingle takes a URL that is in no cluster.
func (c *cluster) readSingle(u page.URL) error {
	if err := c.reset(); err != nil {
		return err
	}
	return c.add(u)
}

// read reads members, ranks and the choice of a cluster, from the members themselves.
func (c *cluster) read(key page.ContentKey) error {
	if err := c.reset(); err != nil {
		return err
	}
	c.key = key
	var choice observers.Choosing
	err := c.eachRanked(func(m *observers.RankedMember) error {
		choice.Rank(m)
		c.Rank += m.Rank
		return c.add(m.URL)
	})
	if err != nil {
		return err
	}
	err = c.eachRanked(func(m *observers.RankedMember) error {
		if choice.Choose(m) {
			return txn.ErrStop
		}
		return nil
	})
	c.Canonical = choice.Canonical
	if err != nil || !choice.Contested {
		return err
	}
	return c.readSettled()
}

// readSettled reads what was chosen where the ranks do not tell.
func (c *cluster) readSettled() error {
	var among observers.Candidates
	err := c.eachRanked(func(m *observers.RankedMember) error {
		among.Add(m)
		return nil
	})
	if err != nil {
		return err
	}
	settled, err := observers.BrokenTie(c.ctx, c.reading.cell(), c.key, &among)
	if settled != "" {
		c.Canonical = settled
	}
	return err
}

// take takes a cluster with its members, without reading ranks or choice.
func (c *cluster) take(key page.ContentKey, members []page.URL) error {
	if err := c.reset(); err != nil {
		return err
	}
	c.key = key
	for _, u := range members {
		if err := c.add(u); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) add(u page.URL) error {
	c.Count++
	if c.Count <= keptInside {
		c.inside[schema.URLRow(u)] = true
	} else {
		c.inside = nil
	}
	return c.members.Add([]byte(u))
}

// eachRanked visits the members in the order of preference.
func (c *cluster) eachRanked(fn func(*observers.RankedMember) error) error {
	tolerance, err := observers.RankTolerance(c.ctx, c.reading.cell())
	if err != nil {
		return err
	}
	return c.reading.hold.ScanPrefix(c.ctx, schema.GroupMember, schema.ClusterRow(c.key), func(row string, _ []txn.Version) error {
		_, info, err := schema.ParseMemberRow(row)
		if err != nil {
			return err
		}
		m, err := observers.RankMember(c.ctx, c.reading.cell(), info, tolerance)
		if err != nil {
			return err
		}
		return fn(&m)
	})
}

// eachMember visits the members in byte order.
func (c *cluster) eachMember(fn func(page.URL) error) error {
	return c.members.Sorted(func(record []byte) error { return fn(page.URL(record)) })
}

// linkRow is what one page says of one member.
type linkRow struct {
	target  page.URL
	row     string   // of the two, as schema.PairRow has it
	anchors []string // of each link one, ascending
}

func (l *linkRow) source() (page.URL, error) { return schema.ParseURLRow(schema.PairSource(l.row)) }

// eachLinkRow visits the inlinks (semantics.md section 5) by target in byte order, then
// by source in the order of rows. From is the row to begin with, "" for the first.
func (c *cluster) eachLinkRow(from string, fn func(*linkRow) error) error {
	var first page.URL
	if from != "" {
		var err error
		if first, _, err = schema.ParsePairRow(from); err != nil {
			return err
		}
	}
	return c.eachMember(func(target page.URL) error {
		prefix := schema.PairPrefix(target)
		start := prefix
		switch {
		case target < first:
			return nil
		case target == first:
			start = from
		}
		return c.reading.hold.Scan(c.ctx, schema.GroupLink, start, txn.PrefixEnd(prefix), func(row string, cols []txn.Version) error {
			within, err := c.holds(schema.PairSource(row))
			if err != nil || within {
				return err
			}
			anchors, err := schema.AnchorsIn(cols)
			if err != nil {
				return err
			}
			return fn(&linkRow{target, row, anchors})
		})
	})
}

// visitInlinks visits up to most inlinks, by anchors, and reports whether there are more.
func (c *cluster) visitInlinks(most int, fn func(observers.Inlink) error) (more bool, err error) {
	n := 0
	err = c.eachLinkRow("", func(l *linkRow) error {
		source, err := l.source()
		if err != nil {
			return err
		}
		for _, anchor := range l.anchors {
			if more = n == most; more {
				return errEnough
			}
			n++
			if err := fn(observers.Inlink{Source: source, Target: l.target, Anchor: anchor}); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return more, err
}

// holds reports whether the URL of a row is a member. Rows of members and walks are
// written by one transaction (observers, cluster), so the walk tells it as well.
func (c *cluster) holds(row string) (bool, error) {
	if c.inside != nil {
		return c.inside[row], nil
	}
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return false, err
	}
	way, err := observers.WayOf(c.ctx, c.reading.cell(), u)
	return way.HasTerminal && way.Cluster == c.key, err
}
