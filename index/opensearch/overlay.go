package opensearch

import (
	"context"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
)

// overlay has the ranks and fetch times that were renewed after their documents were
// exported.
type overlay struct {
	ranks map[string]record // by cluster
	times map[string]int64  // by touchKey
}

// joined is how many records one request joins; each has two records in the overlay.
const joined = 2000

// join gives records their current ranks and times.
func join(ctx context.Context, search func(context.Context, object) (*searchAnswer, error), list []*record) error {
	for some := range slices.Chunk(list, joined) {
		ids := make([]string, 0, 2*len(some))
		for _, r := range some {
			ids = append(ids, rankID(r.Cluster), timeID(r.Touch))
		}
		o, err := overlayOf(ctx, search, ids)
		if err != nil {
			return err
		}
		for _, r := range some {
			o.apply(r)
		}
	}
	return nil
}

// overlayOf reads ranks and times by their ids.
func overlayOf(ctx context.Context, search func(context.Context, object) (*searchAnswer, error), ids []string) (overlay, error) {
	o := overlay{make(map[string]record), make(map[string]int64)}
	a, err := search(ctx, reading(overlayFields, object{"size": len(ids), "query": kept(byID(ids))}))
	if err != nil {
		return o, err
	}
	for _, h := range a.Hits.Hits {
		switch h.Source.Kind {
		case kindRank:
			o.ranks[h.Source.Cluster] = h.Source
		case kindTime:
			o.times[h.Source.Touch] = h.Source.Fetched
		}
	}
	return o, nil
}

func (o *overlay) apply(r *record) {
	if rank, ok := o.ranks[r.Cluster]; ok && rank.Seq > r.Seq {
		r.Rank = rank.Rank
	}
	r.Fetched = max(r.Fetched, o.times[r.Touch])
}

// fetched returns the condition that a document was fetched in a period, or nil if the
// period has no bound.
//
// A document has the time at which it was exported; a later time is in the overlay. So the
// conditions are: its own time is in the period and no later one is beyond it, or a later
// one is in the period. The query lists the later times that matter, at most maxTouched of
// them. If there are more, the oldest are ignored: a page that was found unchanged since
// then is judged by the time of its export.
func (s *session) fetched(ctx context.Context, p query.Period) ([]object, error) {
	if !p.Bounded() {
		return nil, nil
	}
	if known, ok := s.periods[p]; ok {
		return known, nil
	}
	own, before := object{}, object{}
	from := p.From
	if p.From != 0 {
		own["gte"] = p.From
	}
	if p.Until != 0 {
		own["lt"], before["lt"] = p.Until, p.Until
		if from == 0 {
			from = p.Until
		}
	}
	touched, err := s.touchedSince(ctx, from)
	if err != nil {
		return nil, err
	}
	within, beyond := []string{}, []string{} // nil would be null
	for _, t := range touched {
		if p.Until != 0 && t.Fetched >= p.Until {
			beyond = append(beyond, t.Touch)
		} else {
			within = append(within, t.Touch)
		}
	}
	exported := object{"bool": object{"filter": object{"range": object{"fetched": own}}, "must_not": object{"terms": object{"touch": beyond}}}}
	renewed := []object{{"terms": object{"touch": within}}}
	if p.Until != 0 {
		renewed = append(renewed, object{"range": object{"fetched": before}})
	}
	out := []object{{"bool": object{"should": []object{exported, kept(renewed...)}, "minimum_should_match": 1}}}
	s.periods[p] = out
	return out, nil
}

// maxTouched bounds the lists of ids in a request. The server accepts 65,536.
const maxTouched = 10_000

// touchedSince lists the latest fetch times of the overlay.
func (s *session) touchedSince(ctx context.Context, from int64) (list []record, err error) {
	a, err := s.c.search(ctx, reading([]string{"touch", "fetched"}, object{
		"size": maxTouched, "query": kept(object{"term": object{"kind": kindTime}}, object{"range": object{"fetched": object{"gte": from}}}),
		"sort": []object{{"fetched": "desc"}},
	}))
	if err != nil {
		return nil, err
	}
	for _, h := range a.Hits.Hits {
		list = append(list, h.Source)
	}
	return list, nil
}

// Sorted returns documents in the order of their ranks or times. The server can sort
// documents by their own values, and the records of the overlay by theirs, but not by the
// values that count. So sorted reads the first of both, joins them and sorts them. That is
// right as long as a document that belongs to the first n is among the first of either.
func (s *session) Sorted(ctx context.Context, q *search.SortedQuestion) ([]search.Found, error) {
	period, err := s.fetched(ctx, q.Fetched)
	if err != nil {
		return nil, err
	}
	conditions := append([]object{documents, matching(q.Expr)}, period...)
	field, kind := "rank", kindRank
	if q.ByDate {
		field, kind = "fetched", kindTime
	}
	size := max(firstLook, q.N)
	own, err := s.c.search(ctx, reading(rowFields, object{"size": size, "query": kept(conditions...), "sort": []object{{field: object{"order": "desc", "missing": "_last"}}}}))
	if err != nil {
		return nil, err
	}
	hits := own.Hits.Hits
	if len(hits) == size { // there may be others that have moved up
		more, err := s.movedUp(ctx, field, kind, conditions, size)
		if err != nil {
			return nil, err
		}
		hits = append(hits, more...)
	}
	return s.firstOf(ctx, hits, q)
}

// movedUp finds up to size documents that match, those with the highest values in the overlay.
func (s *session) movedUp(ctx context.Context, field, kind string, conditions []object, size int) (hits []searchHit, err error) {
	a, err := s.c.search(ctx, reading([]string{"cluster", "touch", "seq"}, object{"size": maxTouched, "query": kept(object{"term": object{"kind": kind}}), "sort": []object{{field: "desc"}}}))
	if err != nil {
		return nil, err
	}
	by, key := "cluster", func(r *record) string { return r.Cluster }
	if kind == kindTime {
		by, key = "touch", func(r *record) string { return r.Touch }
	}
	renewed := a.Hits.Hits
	keys, place := make([]string, len(renewed)), make(map[string]int, len(renewed))
	for i := range renewed {
		keys[i] = key(&renewed[i].Source)
		place[keys[i]] = i
	}
	at := func(h *searchHit) int { return place[key(&h.Source)] }
	first := min(3*size, len(keys)) // most searches need no others
	for _, some := range [][]string{keys[:first], keys[first:]} {
		if len(some) == 0 || len(hits) >= size {
			break
		}
		among := append([]object{{"terms": object{by: some}}}, conditions...)
		a, err := s.c.search(ctx, reading(rowFields, object{"size": len(some), "query": kept(among...)}))
		if err != nil {
			return nil, fmt.Errorf("search among renewed documents: %w", err)
		}
		hits = append(hits, slices.DeleteFunc(a.Hits.Hits, func(h searchHit) bool {
			return kind == kindRank && renewed[at(&h)].Source.Seq <= h.Source.Seq // the document was exported later
		})...)
	}
	slices.SortFunc(hits, func(a, b searchHit) int { return at(&a) - at(&b) })
	return hits[:min(size, len(hits))], nil
}
