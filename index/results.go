package index

import (
	"fmt"
	"time"

	"indexer/index/snippet"
	"indexer/page"
)

// Options of a search. The zero value gives the first ten hits.
type Options struct {
	Limit   int // hits to return, 1 to MaxResults; 0 means 10
	Offset  int // hits to skip; Limit+Offset is at most MaxResults
	Weights Weights
	Sort    Sort
	// PerHost is how many of the first ten hits may be of one host while there are hits
	// of other hosts; 0 is any number (diversify.go).
	PerHost int
	Explain bool // fill in [Hit].Explanation
	// NoSuggestion leaves out [Results].Suggestion and ShowingFor.
	NoSuggestion bool
	// Verbatim searches for the words as they are typed: a suggestion is only told.
	Verbatim bool
}

// Sort is the order of hits.
type Sort int

// The orders.
const (
	ByRelevance Sort = iota
	ByDate           // latest fetched first
)

// MaxResults is how deep into a result one can look.
const MaxResults = 1000

// Results of a search, in the JSON of `indexer query`.
type Results struct {
	Query string `json:"query"`
	// Total is the number of documents that match: those with all the words or,
	// where they are fewer than [FillBelow], those with any of them.
	Total    int `json:"total"`
	AllWords int `json:"all_words"`               // documents with all the words
	Ignored  int `json:"ignored_words,omitempty"` // words beyond the bound of a query
	// Suggestion is a query that the index has more for, where this one finds little
	// and a word of it looks misspelled.
	Suggestion string `json:"did_you_mean,omitempty"`
	// ShowingFor is the query that was searched for instead of Query: the suggestion, where
	// nothing has all the words that were typed. Counts and hits are of it.
	ShowingFor string `json:"showing_for,omitempty"`
	// Notes tell of what in the query is not understood as it may be meant.
	Notes  []string `json:"notes,omitempty"`
	TookMS float64  `json:"took_ms"`
	Hits   []Hit    `json:"hits"` // never nil
}

// Hit is one document found. Title and Snippet are what the page says, so whoever
// shows them escapes them for where they are shown.
type Hit struct {
	Position int             `json:"position"` // from 1, Offset included
	URL      page.URL        `json:"url"`
	Title    string          `json:"title"`
	Snippet  snippet.Snippet `json:"snippet"`
	// Score is the text score times title and rank factors, higher is better. Hits with all
	// the words come before those with some, whatever their scores. For queries without
	// words it is the rank.
	Score     float64   `json:"score"`
	Rank      float64   `json:"rank"`
	Language  string    `json:"language"`
	FetchedAt time.Time `json:"fetched_at"`
	// IndexedAt is since when what the page says can be found in these files; zero if not
	// known. It is before FetchedAt where a later fetch found the page as it was.
	IndexedAt  time.Time  `json:"indexed_at,omitzero"`
	Duplicates []page.URL `json:"duplicates"` // the other members of the cluster; never nil
	Inlinks    int        `json:"inlinks"`
	// MoreFromHost is how many documents of the host, of the best hundred, stand below the
	// first ten hits because of [Options].PerHost. It is told of the host's last hit above.
	MoreFromHost int          `json:"more_from_host,omitempty"`
	Explanation  *Explanation `json:"explanation,omitempty"`
}

func (o *Options) check() error {
	if o.Limit == 0 {
		o.Limit = 10
	}
	if o.Limit < 1 || o.Offset < 0 || o.Limit > MaxResults || o.Offset > MaxResults-o.Limit {
		return &UsageError{Reason: fmt.Sprintf("limit %d at offset %d: the first %d hits can be had", o.Limit, o.Offset, MaxResults)}
	}
	if o.Weights == (Weights{}) {
		o.Weights = DefaultWeights
	}
	if o.PerHost < 0 || o.Sort < ByRelevance || o.Sort > ByDate {
		return &UsageError{Reason: fmt.Sprintf("%d hits a host, order %d: there are no such", o.PerHost, o.Sort)}
	}
	return o.Weights.check()
}
