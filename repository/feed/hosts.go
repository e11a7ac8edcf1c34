package feed

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/internal/rank/harmonic"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// hosts writes all hosts by their harmonic centrality in the graph of hosts, with their
// share of the sum of all ranks. Memory holds the names, numbers and edges of that graph
// and the working space of package harmonic: some 600 bytes per host, 400 MiB for a million
// hosts. Pages and links are many more; they are sorted in temporary files.
func (e *exporter) hosts() (err error) {
	urls := export.NewSorter(e.scratch, 0)
	defer func() { err = errors.Join(err, urls.Close()) }()
	for _, column := range []txn.Column{schema.RankState, schema.State} {
		if err := e.ranksOf(column, urls); err != nil {
			return err
		}
	}
	h, err := sumByHost(urls)
	if err != nil {
		return err
	}
	g, err := e.hostGraph(h)
	if err != nil {
		return err
	}
	if h.harmonic, err = harmonic.Centralities(e.ctx, g); err != nil {
		return fmt.Errorf("centralities of %d hosts: %w", g.Nodes(), err)
	}
	return e.writeHosts(h)
}

// ranksOf adds the host and rank of each row with a column: schema.RankState, or
// schema.State for fetched URLs without a rank state, to or from which no link leads.
func (e *exporter) ranksOf(column txn.Column, urls *export.Sorter) error {
	return e.scan(column.Group, func(row string, cols []txn.Version) error {
		for _, col := range cols {
			if col.Name != column.Name {
				continue
			}
			state := schema.NoRankState
			if column == schema.RankState {
				var err error
				if state, err = schema.DecodeRankState(col.Data); err != nil {
					return err
				}
			} else if v, err := e.reader.Cell().Get(e.ctx, row, schema.RankState); err != nil || v.Exists {
				return err
			}
			u, err := schema.ParseURLRow(row)
			if err != nil {
				return err
			}
			record := append([]byte(export.ReverseHost(u.Host())), 0)
			return urls.Add(binary.BigEndian.AppendUint64(record, math.Float64bits(state.Rank)))
		}
		return nil
	})
}

// hostTable holds the hosts, ordered by reversed name.
type hostTable struct {
	names           []string
	ranks, harmonic []float64
	total           float64 // sum of ranks
}

// sumByHost sums ranks by host.
func sumByHost(urls *export.Sorter) (*hostTable, error) {
	h := new(hostTable)
	err := urls.Sorted(func(record []byte) error {
		name, rank := record[:len(record)-9], math.Float64frombits(binary.BigEndian.Uint64(record[len(record)-8:]))
		if n := len(h.names); n == 0 || h.names[n-1] != string(name) {
			h.names, h.ranks = append(h.names, string(name)), append(h.ranks, 0)
		}
		h.ranks[len(h.ranks)-1] += rank
		h.total += rank
		return nil
	})
	if err == nil && uint64(len(h.names)) > harmonic.MaxNodes {
		err = fmt.Errorf("there are %d hosts, but at most %d can be ranked", len(h.names), uint64(harmonic.MaxNodes))
	}
	return h, err
}

// hostGraph returns the graph of hosts. It has an edge from one host to another if a link
// or redirect from a URL of the first to a URL of the second passes on rank.
func (e *exporter) hostGraph(h *hostTable) (_ *harmonic.Graph, err error) {
	edges := export.NewSorter(e.scratch, 0)
	defer func() { err = errors.Join(err, edges.Close()) }()
	err = e.scan(schema.GroupRank, func(row string, cols []txn.Version) error {
		stored, err := schema.EdgesIn(cols)
		if err != nil {
			return err
		}
		return h.addEdges(edges, row, stored.Targets)
	})
	if err != nil {
		return nil, err
	}
	b := harmonic.NewBuilder(len(h.names))
	err = edges.Sorted(func(record []byte) error {
		return b.Add(binary.BigEndian.Uint32(record[4:]), binary.BigEndian.Uint32(record))
	})
	return b.Graph(), err
}

// addEdges adds the target and source, as numbers, of each edge between two hosts once:
// targets ascend, so the URLs of one host are adjacent. A URL without a rank, which exists
// only while observers have work left, belongs to no host.
func (h *hostTable) addEdges(edges *export.Sorter, row string, targets []string) error {
	source, known, err := h.number(row)
	if err != nil || !known {
		return err
	}
	last := source
	for _, t := range targets {
		target, known, err := h.number(t)
		if err != nil {
			return err
		}
		if !known || target == last || target == source {
			continue
		}
		last = target
		if err := edges.Add(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, target), source)); err != nil {
			return err
		}
	}
	return nil
}

// number returns the number of the host of a URL row.
func (h *hostTable) number(row string) (n uint32, known bool, err error) {
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return 0, false, err
	}
	at, known := slices.BinarySearch(h.names, export.ReverseHost(u.Host()))
	return uint32(at), known, nil
}

// writeHosts writes the hosts by descending centrality, then by descending rank.
func (e *exporter) writeHosts(h *hostTable) error {
	byRank, order := make([]uint32, len(h.names)), make([]uint32, len(h.names))
	for i := range order {
		byRank[i], order[i] = uint32(i), uint32(i)
	}
	compareRanks := func(a, b uint32) int { return cmp.Or(cmp.Compare(h.ranks[b], h.ranks[a]), cmp.Compare(a, b)) }
	slices.SortFunc(byRank, compareRanks)
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(h.harmonic[b], h.harmonic[a]), compareRanks(a, b))
	})
	places := make([]uint32, len(h.names))
	for place, host := range byRank {
		places[host] = uint32(place) + 1
	}
	out, err := export.NewRanks(e.w)
	if err != nil {
		return err
	}
	for _, host := range order {
		e.res.Documents++
		err := out.Write(&export.HostRank{Host: h.names[host], Harmonic: h.harmonic[host], Place: int(places[host]), Rank: h.ranks[host] / h.total})
		if err != nil {
			return err
		}
	}
	return out.Close()
}
