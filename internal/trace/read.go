package trace

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// stored is what the store holds about a page.
type stored struct {
	rows    []place
	txns    map[uint64]*transaction // by start timestamp
	waiting []Waiting
	loaded  uint64 // commit of the fetch in force; 0: none
	fetch   *Fetch
	cluster string // row; "" if the chain ends at no page
}

// place is a row in which a page leaves traces, and the groups to read there.
type place struct {
	row    string
	on     string // page, cluster, or "" for pairs and members
	groups []string
}

// transaction is what one transaction left in these rows.
type transaction struct {
	start, commit uint64
	on            string
	observer      string // from its acknowledgement
	wrote         []Write
	load, fetched bool // wrote fetch:content; any column of the fetch
}

// maxTargets bounds the rows of link targets that are read for a page.
const maxTargets = 200

// gather reads everything. It reads row by row, so it may see concurrent changes in part,
// but each record is consistent.
func (s *Source) gather(ctx context.Context, u page.URL) (*stored, error) {
	release := s.DB.Hold()
	defer release()
	e := &stored{txns: make(map[uint64]*transaction)}
	tx := s.DB.At(s.DB.LastTimestamp())
	defer tx.Rollback()
	if err := e.findRows(ctx, tx, u); err != nil {
		return nil, err
	}
	for _, p := range e.rows {
		for _, group := range p.groups {
			if err := s.DB.Records(ctx, group, p.row, p.row+"\x00", func(r txn.Record) error { return e.take(s, p, r) }); err != nil {
				return nil, err
			}
		}
	}
	return e, e.readFetch(ctx, tx, u)
}

// findRows lists the rows of the page, its cluster, its membership there, the target of its
// chain, and its link targets.
func (e *stored) findRows(ctx context.Context, tx *txn.Txn, u page.URL) error {
	e.rows = []place{{schema.URLRow(u), "page", []string{
		schema.GroupFetch, schema.GroupBody, schema.GroupDoc, schema.GroupURL, schema.GroupRank, schema.GroupFrontier, txn.AckGroup, txn.NotifyGroup, txn.LeasedGroup,
	}}}
	way, err := observers.WayOf(ctx, tx, u)
	if err != nil {
		return err
	}
	if way.HasTerminal {
		e.cluster = schema.ClusterRow(way.Cluster)
		e.rows = append(e.rows, place{e.cluster, "cluster", []string{schema.GroupIndex, schema.GroupChoice, txn.AckGroup, txn.NotifyGroup, txn.LeasedGroup}})
		for _, eligible := range []bool{true, false} {
			e.rows = append(e.rows, place{schema.MemberRow(way.Cluster, schema.MemberInfo{URL: u, Eligible: eligible}), "", []string{schema.GroupMember}})
		}
	}
	state, _, err := observers.OutcomeOf(ctx, tx, u)
	if err != nil {
		return err
	}
	if state.Target != "" {
		e.rows = append(e.rows, place{schema.PairRow(state.Target, u), "", []string{schema.GroupPointer}})
	}
	links, err := observers.LinksOf(ctx, tx, u)
	for _, l := range links[:min(len(links), maxTargets)] {
		e.rows = append(e.rows, place{schema.PairRow(l.Target, u), "", []string{schema.GroupLink}})
	}
	return err
}

// take adds a record to its transaction.
func (e *stored) take(s *Source, p place, r txn.Record) error {
	if r.Damage != nil {
		return fmt.Errorf("row %q: %w", p.row, r.Damage)
	}
	switch r.Kind {
	case txn.KindAcknowledgement:
		t := e.transaction(r.Start)
		t.observer, t.on = r.Observer, p.on
	case txn.KindNotification:
		e.waiting = append(e.waiting, Waiting{Observer: r.Observer, On: p.on, Since: s.moment(r.TS)})
	case txn.KindWrite:
		t := e.transaction(r.Start)
		t.commit = r.TS
		if p.on != "" && t.on != "page" {
			t.on = p.on
		}
		t.fetched = t.fetched || r.Cell.Group == schema.GroupFetch
		if r.Cell.Column == schema.FetchContent {
			t.load = true
			e.loaded = max(e.loaded, r.TS)
		}
		t.note(r)
	case txn.KindData:
		e.transaction(r.Start).noteData(r)
	}
	return nil
}

func (e *stored) transaction(start uint64) *transaction {
	t, ok := e.txns[start]
	if !ok {
		t = &transaction{start: start}
		e.txns[start] = t
	}
	return t
}

// note adds a write to the writes of its column.
func (t *transaction) note(r txn.Record) {
	w := t.column(r.Cell.Group+":"+r.Cell.Name, r.Op)
	w.Cells++
	if r.Inline {
		w.Bytes += len(r.Value)
	}
}

// noteData adds the bytes of a value that is stored apart from its write record.
func (t *transaction) noteData(r txn.Record) {
	t.column(r.Cell.Group+":"+r.Cell.Name, "put").Bytes += len(r.Value)
}

func (t *transaction) column(name, op string) *Write {
	for i := range t.wrote {
		if w := &t.wrote[i]; w.Column == name && w.Op == op {
			return w
		}
	}
	t.wrote = append(t.wrote, Write{Column: name, Op: op})
	return &t.wrote[len(t.wrote)-1]
}

// readFetch reads the fetch in force.
func (e *stored) readFetch(ctx context.Context, tx *txn.Txn, u page.URL) error {
	f, err := schema.ReadInForce(ctx, tx, u)
	if err != nil || f == nil {
		return err
	}
	e.fetch = &Fetch{Status: f.Status}
	e.fetch.Time, err = observers.FetchedAt(ctx, tx, u)
	return err
}
