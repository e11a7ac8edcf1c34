// Package counts counts what a repository holds, at one snapshot: what `indexer stats`
// shows. A Cache keeps the counts of ranges of rows, so that counting again reads only the
// ranges that have changed.
package counts

import (
	"context"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Version is the version of the meaning of Counts, and of the form in which a Cache is stored. It
// rises when anything is counted differently, because counts are stored (repository/closed.go).
const Version = 4

// Counts says what a repository holds.
type Counts struct {
	URLs      int `json:"urls"` // fetched, linked to, or targets of redirects or canonical links
	Pages     int `json:"pages"`
	Redirects int `json:"redirects"`
	Gone      int `json:"gone"`
	Failed    int `json:"failed"` // every fetch failed
	Other     int `json:"other"`
	// Unreadable counts those of Other that are documents whose text cannot be read.
	Unreadable observers.Unreadable `json:"unreadable,omitzero"`
	Clusters   int                  `json:"clusters"`
	Indexed    int                  `json:"indexed"`
	Links      int                  `json:"links"` // pairs of page and target

	Ranks Ranks `json:"ranks"`
}

// Read counts by scanning the small tables.
func Read(ctx context.Context, tx *txn.Txn) (Counts, error) {
	facts, err := readFacts(ctx, tx)
	if err != nil {
		return Counts{}, err
	}
	var sum tally
	for _, p := range parts(facts.documents) {
		for it, err := range p.scan(ctx, tx, span{}) {
			if err != nil {
				return Counts{}, err
			}
			sum.add(&it.tally)
		}
	}
	return sum.counts(facts.tolerance), nil
}

// facts say how to count: what holds for the whole repository.
type facts struct {
	documents bool // documents of some format are indexed
	journal   bool // some rank states are only in the journal
	tolerance float64
}

func readFacts(ctx context.Context, tx *txn.Txn) (f facts, err error) {
	for _, format := range []*schema.Format{&schema.PDFFormat, &schema.OfficeFormat} {
		setting, err := format.Read(ctx, tx)
		if err != nil {
			return f, err
		}
		f.documents = f.documents || setting.Holds()
	}
	if f.journal, err = observers.HasRankJournal(ctx, tx); err != nil {
		return f, err
	}
	f.tolerance, err = observers.RankTolerance(ctx, tx)
	return f, err
}

// counts of a whole repository.
func (t *tally) counts(tolerance float64) Counts {
	return Counts{
		URLs: int(t[urls]), Pages: int(t[pages]), Redirects: int(t[redirects]), Gone: int(t[gone]), Failed: int(t[failed]), Other: int(t[other]),
		Unreadable: observers.Unreadable{PDF: t[unreadablePDF], Office: t[unreadableOffice]},
		Clusters:   int(t[clusters]), Indexed: int(t[indexed]), Links: int(t[links]),
		Ranks: t.ranks(tolerance),
	}
}

func (t *tally) ranks(tolerance float64) Ranks {
	return Ranks{
		Tolerance: tolerance, URLs: int(t[rankURLs]), Edges: int(t[rankEdges]),
		ResidualSum:      float64(t[residualSum]) * residualUnit,
		ResidualBound:    float64(t[rankPassing]) * pagerank.ResidualBound(tolerance),
		ResidualGreatest: float64(t[residualGreatest]) * residualUnit,
	}
}
