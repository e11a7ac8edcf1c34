package search

import (
	"fmt"
	"time"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/snippet"
	"github.com/webindexer/indexer/page"
)

// UsageError says what is wrong with a query or with the options of a search.
type UsageError = query.UsageError

// Options are the options of a search. The zero value gives the first ten hits.
type Options struct {
	Limit   int // hits to return, 1 to MaxResults; 0 means 10
	Offset  int // hits to skip; Limit+Offset is at most MaxResults
	Weights Weights
	Sort    Sort
	// PerHost is how many hits of one host the first page shows before it prefers hits of other
	// hosts that fit nearly as well (diversify.go). Zero means any number.
	PerHost int
	Explain bool // set [Hit].Explanation
	// Language is the language of the reader, a BCP 47 tag: pages in other languages count
	// less, unless the query is in another language (language.go). "" treats all languages alike.
	Language string
	// Unfold shows versions and translations of a page, and pages that say the same, as
	// separate results (fold.go).
	Unfold bool
	// Facets asks for [Results].Facets.
	Facets bool
	// NoSuggestion leaves out [Results].Suggestion and ShowingFor.
	NoSuggestion bool
	// Verbatim searches for the words as typed: a correction is only suggested.
	Verbatim bool
}

// Sort is the order of hits.
type Sort int

// The orders.
const (
	ByRelevance Sort = iota
	ByDate           // the latest fetch first
)

// MaxResults is how many hits of a result can be requested.
const MaxResults = 1000

// Results are the results of a search, in the JSON of `indexer query`.
type Results struct {
	Query string `json:"query"`
	// Total is the number of documents that match: those with all the words, and the best of
	// the others if the query has many words; or, if fewer than [FillBelow] have all the words,
	// those with any of them.
	Total    int `json:"total"`
	AllWords int `json:"all_words"` // documents with all the words
	// Folded is how many of the documents are listed in the Also of another hit, instead of
	// being a hit: there are Total - Folded results.
	Folded  int `json:"folded,omitempty"`
	Ignored int `json:"ignored_words,omitempty"` // words beyond the bound of a query
	// Suggestion is a query for which the index has more, if this one finds little and a
	// word of it looks misspelled.
	Suggestion string `json:"did_you_mean,omitempty"`
	// ShowingFor is the query that was searched for instead of Query: the suggestion, if
	// no document has all the words as typed. Counts and hits are those of this query.
	ShowingFor string `json:"showing_for,omitempty"`
	// Notes say which parts of the query may not mean what was intended.
	Notes []string `json:"notes,omitempty"`
	// Incomplete names the shards that did not answer, and says why. Their documents are
	// missing from counts and hits.
	Incomplete []string `json:"incomplete,omitempty"`
	// Facets divide the documents by their properties, if [Options].Facets asks for it.
	Facets *Facets `json:"facets,omitempty"`
	TookMS float64 `json:"took_ms"`
	Hits   []Hit   `json:"hits"` // never nil
}

// Hit is one document found. Title and Snippet are what the page says, so code that
// displays them has to escape them.
type Hit struct {
	Position int             `json:"position"` // from 1, Offset included
	URL      page.URL        `json:"url"`
	Title    string          `json:"title"`
	Snippet  snippet.Snippet `json:"snippet"`
	// Score is the text score times the factors of title, anchors, rank and language; higher
	// is better. A hit with other versions or translations in Also has the place of the best
	// score among these. Hits with all the words come before hits with some, whatever their scores.
	// For queries without words it is the rank.
	Score     float64   `json:"score"`
	Rank      float64   `json:"rank"`
	Language  string    `json:"language"`
	FetchedAt time.Time `json:"fetched_at"`
	// IndexedAt is when these files got the content of the page, zero if unknown. It is
	// before FetchedAt if a later fetch found the page unchanged.
	IndexedAt  time.Time  `json:"indexed_at,omitzero"`
	Duplicates []page.URL `json:"duplicates"` // the other members of the cluster; never nil
	Inlinks    int        `json:"inlinks"`
	// Sections are parts of the page whose headings have words of the query that the title
	// lacks, best first.
	Sections []Section `json:"sections,omitempty"`
	// Also are versions and translations of the page, and pages that say nearly the same. They
	// also match the query.
	Also []Also `json:"also,omitempty"`
	// MoreFromHost is how many documents of the host were moved below the first ten hits
	// because of [Options].PerHost. It is set on the last hit of the host above them.
	MoreFromHost int          `json:"more_from_host,omitempty"`
	Explanation  *Explanation `json:"explanation,omitempty"`
}

// Section is a part of a page that its URL with a fragment leads to. Title is the heading,
// which is what the page says, so code that displays it has to escape it.
type Section struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	// Answers reports whether the title of the page and this heading have all the words of
	// the query: the hit is this section more than the page. It is set only for the first section.
	Answers bool `json:"answers,omitempty"`
}

func (o *Options) check() error {
	if o.Limit == 0 {
		o.Limit = 10
	}
	if o.Limit < 1 || o.Offset < 0 || o.Limit > MaxResults || o.Offset > MaxResults-o.Limit {
		return &UsageError{Reason: fmt.Sprintf("limit %d at offset %d: only the first %d hits are available", o.Limit, o.Offset, MaxResults)}
	}
	if o.Weights == (Weights{}) {
		o.Weights = DefaultWeights
	}
	if o.PerHost < 0 || o.Sort < ByRelevance || o.Sort > ByDate {
		return &UsageError{Reason: fmt.Sprintf("%d hits per host, order %d: out of range", o.PerHost, o.Sort)}
	}
	return o.Weights.check()
}
