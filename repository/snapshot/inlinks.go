package snapshot

import (
	"errors"
	"slices"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// LinkRow holds the links of one page to one member.
type LinkRow struct {
	Target  page.URL
	Row     string   // schema.PairRow of both
	Anchors []string // one for each link, ascending
}

// Source returns the page that has the links.
func (l *LinkRow) Source() (page.URL, error) { return schema.ParseURLRow(schema.PairSource(l.Row)) }

// EachLinkRow visits the inlinks (semantics.md section 5) by target in byte order, then
// by source in the order of rows. It begins with the row from, or with the first row if
// from is "".
func (c *Cluster) EachLinkRow(from string, fn func(*LinkRow) error) error {
	var first page.URL
	if from != "" {
		var err error
		if first, _, err = schema.ParsePairRow(from); err != nil {
			return err
		}
	}
	return c.EachMember(func(target page.URL) error {
		prefix := schema.PairPrefix(target)
		start := prefix
		switch {
		case target < first:
			return nil
		case target == first:
			start = from
		}
		return c.reader.hold.Scan(c.ctx, schema.GroupLink, start, txn.PrefixEnd(prefix), func(row string, cols []txn.Version) error {
			within, err := c.holds(schema.PairSource(row))
			if err != nil || within {
				return err
			}
			anchors, err := schema.AnchorsIn(cols)
			if err != nil {
				return err
			}
			return fn(&LinkRow{target, row, anchors})
		})
	})
}

// errEnough ends a visit early.
var errEnough = errors.New("enough")

// VisitInlinks visits at most most inlinks, one for each anchor, and reports whether there
// are more.
func (c *Cluster) VisitInlinks(most int, fn func(observers.Inlink) error) (more bool, err error) {
	n := 0
	err = c.EachLinkRow("", func(l *LinkRow) error {
		source, err := l.Source()
		if err != nil {
			return err
		}
		for _, anchor := range l.Anchors {
			if more = n == most; more {
				return errEnough
			}
			n++
			if err := fn(observers.Inlink{Source: source, Target: l.Target, Anchor: anchor}); err != nil {
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

// holds reports whether the URL of a row is a member. One transaction writes both the
// member row and the chain of a URL (observer cluster), so the chain also shows this.
func (c *Cluster) holds(row string) (bool, error) {
	if c.inside != nil {
		return c.inside[row], nil
	}
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return false, err
	}
	way, err := observers.WayOf(c.ctx, c.reader.Cell(), u)
	return way.HasTerminal && way.Cluster == c.key, err
}

// SourceAnchors returns the anchors of all links from the source of l to members. first
// reports whether l is the first row of that source; for other rows, there is no result. The
// links of the page say which rows may exist; only rows that do exist count.
func (c *Cluster) SourceAnchors(l *LinkRow) (anchors []string, first bool, err error) {
	if c.Count <= 1 {
		return l.Anchors, true, nil
	}
	source, err := l.Source()
	if err != nil {
		return nil, false, err
	}
	links, err := observers.LinksOf(c.ctx, c.reader.Cell(), source)
	if err != nil {
		return nil, false, err
	}
	anchors = slices.Clone(l.Anchors)
	var last page.URL
	for _, other := range links {
		if other.Target == l.Target || other.Target == last { // a target with many anchors appears several times
			continue
		}
		last = other.Target
		more, err := c.anchorsFrom(source, other.Target)
		if err != nil || len(more) > 0 && other.Target < l.Target {
			return nil, false, err
		}
		anchors = append(anchors, more...)
	}
	return anchors, true, nil
}

// anchorsFrom returns the anchors of a page's links to a URL, or none if that URL is not a member.
func (c *Cluster) anchorsFrom(source, target page.URL) ([]string, error) {
	if within, err := c.holds(schema.URLRow(target)); err != nil || !within {
		return nil, err
	}
	cols, err := c.reader.Cell().GetRow(c.ctx, schema.PairRow(target, source), schema.GroupLink)
	if err != nil {
		return nil, err
	}
	return schema.AnchorsIn(cols)
}

// CountSources counts the pages that link to the cluster, and their links. If the cluster
// has several members, it sorts the pages in temporary files, because one page may link to
// many members.
func (c *Cluster) CountSources() (pages, links int, err error) {
	several := c.Count > 1
	sources := export.NewSorter(c.opts.Scratch, memberMemory)
	defer func() { err = errors.Join(err, sources.Close()) }()
	err = c.EachLinkRow("", func(l *LinkRow) error {
		links += len(l.Anchors)
		if !several {
			pages++
			return nil
		}
		return sources.Add([]byte(schema.PairSource(l.Row)))
	})
	if err != nil || !several {
		return pages, links, err
	}
	last := ""
	err = sources.Sorted(func(row []byte) error {
		if string(row) != last {
			pages, last = pages+1, string(row)
		}
		return nil
	})
	return pages, links, err
}
