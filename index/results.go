package index

import (
	"fmt"
	"math"
	"time"

	"indexer/page"
)

// Options of a search. The zero value gives the first ten hits.
type Options struct {
	Limit   int // hits to return, 1 to MaxResults; 0 means 10
	Offset  int // hits to skip; Limit+Offset is at most MaxResults
	Weights Weights
}

// Weights of the columns in BM25; the zero value means [DefaultWeights].
type Weights struct{ Title, Body, Anchors, URL float64 }

// DefaultWeights find known items in the corpus as well as any others tried; the
// exact values matter little (docs/format-index.md).
var DefaultWeights = Weights{Title: 20, Body: 1, Anchors: 4, URL: 2}

// MaxResults is how deep into a result one can look.
const MaxResults = 1000

// Results of a search, in the JSON of `indexer query`.
type Results struct {
	Query string `json:"query"`
	// Total is the number of documents that match: those with all the words or,
	// where they are fewer than [FillBelow], those with any of them.
	Total    int     `json:"total"`
	AllWords int     `json:"all_words"`               // documents with all the words
	Ignored  int     `json:"ignored_words,omitempty"` // words beyond the bound of a query
	TookMS   float64 `json:"took_ms"`
	Hits     []Hit   `json:"hits"` // never nil
}

// Hit is one document found. Title and Snippet are what the page says, so whoever
// shows them escapes them for where they are shown.
type Hit struct {
	Position int      `json:"position"` // from 1, Offset included
	URL      page.URL `json:"url"`
	Title    string   `json:"title"`
	Snippet  Snippet  `json:"snippet"`
	// Score is the text score times title and rank factors, higher is better. Hits with all
	// the words come before those with some, whatever their scores. For queries without
	// words it is the rank.
	Score      float64    `json:"score"`
	Rank       float64    `json:"rank"`
	Language   string     `json:"language"`
	FetchedAt  time.Time  `json:"fetched_at"`
	Duplicates []page.URL `json:"duplicates"` // the other members of the cluster; never nil
	Inlinks    int        `json:"inlinks"`
}

func (o *Options) check() error {
	if o.Limit == 0 {
		o.Limit = 10
	}
	if o.Limit < 1 || o.Offset < 0 || o.Limit > MaxResults || o.Offset > MaxResults-o.Limit {
		return &UsageError{fmt.Sprintf("limit %d at offset %d: the first %d hits can be had", o.Limit, o.Offset, MaxResults)}
	}
	if o.Weights == (Weights{}) {
		o.Weights = DefaultWeights
	}
	for _, w := range []float64{o.Weights.Title, o.Weights.Body, o.Weights.Anchors, o.Weights.URL} {
		if !(w >= 0) || math.IsInf(w, 0) {
			return &UsageError{fmt.Sprintf("column weight %v: weights are finite and not negative", w)}
		}
	}
	return nil
}

// rankFunction is the weights as FTS5's rank configuration; the tags weigh nothing.
func (w Weights) rankFunction() string {
	return fmt.Sprintf("bm25(%g,%g,%g,%g,0.0)", w.Title, w.Body, w.Anchors, w.URL)
}
