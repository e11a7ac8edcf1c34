package observers

import (
	"context"
	"fmt"
	"slices"

	"indexer/schema"
	"indexer/txn"
)

// The sizes of sections, in members. Variables for tests.
var (
	// sectionMost is how many a section has at most, after it was renewed.
	sectionMost = 128
	// sectionCut is how many the parts of a larger one get.
	sectionCut = 64
	// sectionLeast is how many it has at least, or it becomes part of its neighbour.
	sectionLeast = 32
	// sectionRead is how many member rows of a section are read at a time. If there are
	// more, what comes after them becomes a section that is unread.
	sectionRead = 1024
	// sectionRun is how many a run reads, before it leaves the rest to another.
	sectionRun = 4096
)

// renewal is what a run of rerank does with the sections of clusters.
//
// # Invariants
//
//  1. The sections of a cluster, if there are any, begin at "", and each goes up to the
//     next. So each member row is in one of them.
//  2. Who changes a member row, or publishes the rank of a member, wakes rerank at that
//     member row (cluster, rank). Whether the cluster has sections is not asked there: it
//     may get them at that moment.
//  3. A section that is not as its members are, or is unread, has a notification: at one of
//     its member rows, or where it begins.
//  4. Who renews an unread section, or makes or removes sections, wakes index; who renews
//     any other has rerank's look at the whole cluster in the same run.
//
// # Why no change is missed
//
// Let a member change at C. The notification (2) has a run of rerank that begins at R > C.
// If it finds sections, it renews the one that the row is in, from the rows at R. If it
// finds none, it reads the members as a whole; sections that others make at F > R are made
// unread, and read by runs that begin after F.
//
// A section is written by every run that has renewed it, even if it is the same. So two
// runs that renew it at once conflict, and so do two of which one cuts a section, or makes
// one of two: the row of every section that has become another is written or removed. What
// stands in a section is therefore of a later state than what stood in it before, and in
// the end of one after C.
type renewal struct {
	tx        *txn.Txn
	tolerance float64
	left      int             // members to be read
	room      int             // mutations that the transaction may still get
	waiting   int             // rows that the run was woken at and has not dealt with
	done      map[string]bool // rows of sections that are renewed
}

// rerankWrites is how many mutations a transaction of rerank has at most.
const rerankWrites = 600

// newRenewal is for a run that was woken at so many rows.
func newRenewal(ctx context.Context, tx *txn.Txn, rows int) (*renewal, error) {
	tolerance, err := RankTolerance(ctx, tx)
	return &renewal{
		tx: tx, tolerance: tolerance, left: sectionRun, room: rerankWrites - rows, waiting: rows, done: make(map[string]bool),
	}, err
}

// full reports that what waits has to be left to another run: the transaction has room for
// its notifications, and one section more.
func (r *renewal) full() bool { return r.left <= 0 || r.room <= r.waiting+sectionRead/sectionCut+8 }

func (r *renewal) notify(row string, c txn.Column) {
	r.room--
	r.tx.Notify(row, c)
}

func (r *renewal) set(row string, s *schema.StoredSummary) {
	r.room--
	r.tx.Set(row, schema.Summary, s.Encode())
}

func (r *renewal) remove(row string) {
	r.room--
	r.tx.Delete(row, schema.Summary)
}

// begin makes one unread section of a cluster that has become a giant.
func (r *renewal) begin(s *sections) {
	s.list = []section{{StoredSummary: schema.StoredSummary{Unread: true}}}
	s.add()
}

// renew renews the sections of a cluster that rows are in, which are those of members
// without the content key. "" is the cluster's own.
func (r *renewal) renew(ctx context.Context, s *sections, rows []string) error {
	wasUnread := s.total.Unread
	slices.Sort(rows)
	for _, at := range slices.Backward(rows) { // what is cut has no part in those before it
		i := s.find(at)
		full := r.full()
		r.waiting--
		switch {
		case r.done[s.row(i)], at == "" && !s.list[0].Unread:
			continue
		case full:
			r.notify(schema.SummaryRow(s.key, at), schema.Ranked)
			continue
		}
		if err := r.renewOne(ctx, s, i); err != nil {
			return err
		}
	}
	if s.add(); wasUnread {
		r.notify(schema.ClusterRow(s.key), schema.Dirty)
	}
	return nil
}

// renewOne renews a section, and cuts it or adds it to another.
func (r *renewal) renewOne(ctx context.Context, s *sections, i int) error {
	if err := r.read(ctx, s, i); err != nil {
		return err
	}
	if now := &s.list[i]; now.Unread || now.Members >= sectionLeast {
		return nil
	}
	switch {
	case i+1 < len(s.list) && !s.list[i+1].Unread:
	case i > 0 && !s.list[i-1].Unread:
		i--
	default:
		return nil
	}
	r.remove(s.row(i + 1))
	s.list = slices.Delete(s.list, i+1, i+2)
	return r.read(ctx, s, i)
}

// read makes section i anew, or several of it, from the members that it has now.
func (r *renewal) read(ctx context.Context, s *sections, i int) error {
	var rows []string
	var members []RankedMember
	more := ""
	err := r.tx.Scan(ctx, schema.GroupMember, s.row(i), s.end(i), func(row string, _ []txn.Version) error {
		_, at := schema.SplitMemberRow(row)
		if len(rows) == sectionRead {
			more = at
			return txn.ErrStop
		}
		m, err := readRanked(ctx, r.tx, row, r.tolerance)
		rows, members = append(rows, at), append(members, m)
		return err
	})
	if err != nil {
		return fmt.Errorf("read a section of a cluster: %w", err)
	}
	r.left -= len(rows)
	parts := cutSection(s.list[i].at, rows, members)
	if more != "" {
		parts = append(parts, section{more, schema.StoredSummary{Unread: true}})
		r.notify(schema.SummaryRow(s.key, more), schema.Ranked)
	}
	for _, p := range parts {
		row := schema.SummaryRow(s.key, p.at)
		r.set(row, &p.StoredSummary)
		r.done[row] = true
	}
	s.list = slices.Replace(s.list, i, i+1, parts...)
	return nil
}

// cutSection makes sections of members, of which there may be none. The first begins at.
func cutSection(at string, rows []string, members []RankedMember) []section {
	parts := []section{{at: at}}
	for k := range members {
		last := &parts[len(parts)-1]
		if left := len(members) - k; len(members) > sectionMost && last.Members >= sectionCut && left > sectionCut/2 {
			parts = append(parts, section{at: rows[k]})
			last = &parts[len(parts)-1]
		}
		addMember(&last.StoredSummary, &members[k])
	}
	return parts
}

// end removes the sections of a cluster that has become small.
func (r *renewal) end(s *sections) {
	for i := range s.list {
		r.remove(s.row(i))
	}
	r.notify(schema.ClusterRow(s.key), schema.Dirty)
}
