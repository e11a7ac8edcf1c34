package bigtable

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"cloud.google.com/go/bigtable"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// want is a store.Selector as Bigtable sees it: a family, a range of columns, and a range of
// timestamps. It is comparable, so that equal ones share a filter.
type want struct {
	family     string
	column     string
	prefix     bool
	latest     bool   // the group keeps one version
	lo, hi     uint64 // timestamps, both inclusive, hi at most maxTS
	newest     int
	impossible bool // no cell can match
}

// want wants the newest versions, from lo to hi, of a column or of all columns with a prefix. 0
// means no bound for hi and for newest.
func (g *group) want(column []byte, prefix bool, lo, hi uint64, newest int) want {
	w := want{family: g.family, column: string(column), prefix: prefix, latest: g.Latest, newest: newest}
	w.lo, w.hi = engine.TSRange(lo, hi)
	w.hi = min(w.hi, maxTS)
	w.impossible = w.lo > w.hi
	if g.Latest {
		w.newest = 1
	}
	return w
}

func (g *group) wantOf(s *store.Selector) want {
	return g.want(s.Column, s.Prefix, s.MinTS, s.MaxTS, s.Newest)
}

// columns is the filter for the range of columns.
func (w *want) columns() bigtable.Filter {
	end := w.column + "\x00"
	if w.prefix {
		end = string(store.PrefixEnd([]byte(w.column)))
	}
	return bigtable.ColumnRangeFilter(w.family, w.column, end)
}

// times is the filter for the range of timestamps, nil if all match.
func (w *want) times() bigtable.Filter {
	if w.lo == 0 && w.hi == maxTS {
		return nil
	}
	return bigtable.TimestampRangeFilterMicros(cellTS(w.lo), tsEnd(w.hi))
}

// filter lets through exactly the cells that w wants. A group that keeps one version can
// have older ones for a while, so the filter chooses the newest before it compares
// timestamps.
func (w *want) filter() bigtable.Filter {
	if w.latest {
		return chain(w.columns(), bigtable.LatestNFilter(1), w.times())
	}
	if w.newest > 0 {
		return chain(w.columns(), w.times(), bigtable.LatestNFilter(w.newest))
	}
	return chain(w.columns(), w.times())
}

// bytes bounds the size of w's filter in a request. Names of columns occur twice.
func (w *want) bytes() int { return 2*(len(w.column)+4) + len(w.family) + 48 }

// maxFilterBytes is Bigtable's limit, less what the frame of a filter takes.
const maxFilterBytes = 20480 - 64

// chain joins filters that are not nil. Bigtable refuses a chain of one.
func chain(filters ...bigtable.Filter) bigtable.Filter {
	var some []bigtable.Filter
	for _, f := range filters {
		if f != nil {
			some = append(some, f)
		}
	}
	if len(some) == 1 {
		return some[0]
	}
	return bigtable.ChainFilters(some...)
}

// anyOf lets through what any of the filters does. Bigtable refuses an interleave of one.
func anyOf(filters []bigtable.Filter) bigtable.Filter {
	if len(filters) == 1 {
		return filters[0]
	}
	return bigtable.InterleaveFilters(filters...)
}

// version is a cell of a row as it was read.
type version struct {
	column string
	ts     uint64
	value  []byte
}

// compare orders versions: columns ascending, timestamps descending.
func (v version) compare(w version) int {
	return cmp.Or(cmp.Compare(v.column, w.column), cmp.Compare(w.ts, v.ts))
}

// versions are the cells of one family of a row, columns ascending, timestamps descending.
type versions []version

// versionsOf takes the cells of a family from a row. Filters that overlap deliver a cell
// more than once.
func versionsOf(row bigtable.Row, family string) versions {
	items := row[family]
	out := make(versions, 0, len(items))
	for i := range items {
		ts, ok := tsOf(items[i].Timestamp)
		if !ok {
			continue // nothing of ours has such a timestamp
		}
		out = append(out, version{strings.TrimPrefix(items[i].Column, family+":"), ts, items[i].Value})
	}
	if !slices.IsSortedFunc(out, version.compare) {
		slices.SortStableFunc(out, version.compare)
	}
	return out
}

// pick returns what w wants from the cells that passed a filter at least as wide as w's
// own. If w wants the newest versions, that filter was generous (readbatch.go): it let
// through the newest depth versions up to the timestamp top. If the versions that w wants
// may lie deeper, ok is false.
func (w *want) pick(cells versions, top uint64, depth int) (out versions, ok bool) {
	if w.impossible {
		return nil, true
	}
	start := sort.Search(len(cells), func(i int) bool { return cells[i].column >= w.column })
	for i := start; i < len(cells); {
		column := cells[i].column
		if column != w.column && !(w.prefix && strings.HasPrefix(column, w.column)) {
			break
		}
		seen, kept := 0, 0
		last, any := uint64(0), false
		for ; i < len(cells) && cells[i].column == column; i++ {
			ts := cells[i].ts
			if any && ts == last {
				continue // let through by two filters
			}
			last, any = ts, true
			if depth > 0 && (ts > top || seen == depth) {
				continue
			}
			seen++
			if ts >= w.lo && ts <= w.hi && (w.newest == 0 || kept < w.newest) && (!w.latest || seen == 1) {
				out = append(out, cells[i])
				kept++
			}
		}
		if depth > 0 && !w.latest && kept < w.newest && seen == depth {
			return nil, false
		}
	}
	return out, true
}
