package snapshot

import (
	"cmp"
	"context"
	"iter"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Cluster is a cluster as of a snapshot, or a URL that is in no cluster. It may have any
// number of members and inlinks, because neither list is kept in memory: the members,
// which are stored in order of preference, are sorted in temporary files, and each visit
// reads links again.
//
// Memory holds the buffer of the sorter, the rows of a limited number of members, and a
// limited number of cells in the reader's transaction.
type Cluster struct {
	Canonical page.URL // "" if no member is in the index
	Rank      float64  // sum over all members
	Count     int      // number of members

	ctx     context.Context
	reader  *Reader
	opts    ClusterOptions
	key     page.ContentKey
	members *export.Sorter
	// inside has the rows of all members, to distinguish links between members from
	// inlinks. It is nil if there are too many; then each source is looked up.
	inside map[string]bool
}

// ClusterOptions say where and how a cluster is read.
type ClusterOptions struct {
	Scratch string // directory for temporary files
	// KnownMembers is how many members may be kept in memory; 0 means 10,000, and a
	// negative number none.
	KnownMembers int
}

// memberMemory is the size of a sorter's buffer, in bytes.
const memberMemory = 8 << 20

// NewCluster returns a Cluster that reads one cluster after another; see Read, ReadSingle
// and Take. The caller closes it.
func NewCluster(ctx context.Context, reader *Reader, opts ClusterOptions) *Cluster {
	opts.KnownMembers = cmp.Or(opts.KnownMembers, 10_000)
	return &Cluster{ctx: ctx, reader: reader, opts: opts, members: export.NewSorter(opts.Scratch, memberMemory)}
}

// Close removes the temporary files.
func (c *Cluster) Close() error { return c.members.Close() }

// reset forgets the cluster that was read before.
func (c *Cluster) reset() error {
	c.Canonical, c.Rank, c.Count, c.key = "", 0, 0, page.ContentKey{}
	c.inside = make(map[string]bool)
	return c.members.Reset()
}

// ReadSingle makes c consist of one URL, which is in no cluster.
func (c *Cluster) ReadSingle(u page.URL) error {
	if err := c.reset(); err != nil {
		return err
	}
	return c.add(u)
}

// Read reads members and ranks of a cluster, and derives its canonical URL from them.
func (c *Cluster) Read(key page.ContentKey) error {
	if err := c.reset(); err != nil {
		return err
	}
	c.key = key
	choice, err := cluster.Choose(c.ranked())
	if err != nil {
		return err
	}
	c.Canonical, c.Rank = choice.Canonical, choice.Rank
	if choice.Contested {
		chosen, err := observers.BrokenTie(c.ctx, c.reader.Cell(), key, choice.Among)
		if err != nil {
			return err
		}
		c.Canonical = cmp.Or(chosen, c.Canonical)
	}
	return c.eachRow(func(m schema.MemberInfo) error { return c.add(m.URL) })
}

// Take makes c consist of members that the caller has read, without ranks and canonical
// URL.
func (c *Cluster) Take(key page.ContentKey, members []page.URL) error {
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

func (c *Cluster) add(u page.URL) error {
	c.Count++
	if c.Count <= c.opts.KnownMembers {
		c.inside[schema.URLRow(u)] = true
	} else {
		c.inside = nil
	}
	return c.members.Add([]byte(u))
}

// ranked yields the members, with their ranks, in order of preference.
func (c *Cluster) ranked() iter.Seq2[cluster.Ranked, error] {
	return func(yield func(cluster.Ranked, error) bool) {
		tolerance, err := observers.RankTolerance(c.ctx, c.reader.Cell())
		if err == nil {
			err = c.eachRow(func(info schema.MemberInfo) error {
				m, err := observers.RankMember(c.ctx, c.reader.Cell(), info, tolerance)
				if err == nil && !yield(m, nil) {
					err = txn.ErrStop
				}
				return err
			})
		}
		if err != nil {
			yield(cluster.Ranked{}, err)
		}
	}
}

// eachRow visits the members in order of preference.
func (c *Cluster) eachRow(fn func(schema.MemberInfo) error) error {
	return c.reader.hold.ScanPrefix(c.ctx, schema.GroupMember, schema.ClusterRow(c.key), func(row string, _ []txn.Version) error {
		_, info, err := schema.ParseMemberRow(row)
		if err != nil {
			return err
		}
		return fn(info)
	})
}

// EachMember visits the members in byte order.
func (c *Cluster) EachMember(fn func(page.URL) error) error {
	return c.members.Sorted(func(record []byte) error { return fn(page.URL(record)) })
}
