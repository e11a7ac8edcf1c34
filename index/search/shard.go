package search

import (
	"context"
	"errors"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/page"
)

// # One index in several files
//
// The documents of an index may be divided among shards: separate index files, which may
// be on other machines. Each document is in one shard. A search of all shards gives what
// a search of one file with all documents would give, hit by hit and score by score:
//
//   - Everything that a score depends on besides the document itself is a sum over all
//     documents: their number, their tokens, and how many have a phrase ([Statistics]). So a
//     search first asks every shard for these, adds them up, and then lets every shard score
//     its documents by the sums.
//   - Every shard gives its best n documents. The best n of all are among them. Documents
//     of equal score are ordered by URL, which is the same in any division.
//   - Everything after that (the second sort, the limit of hits per host, further
//     documents with some of the words, the suggestion) is the same code as for one file,
//     and works on the merged lists.
//
// One difference remains: words for suggestions. A shard stores a word of a text once two
// of its documents have it (package spelling), and does not know that a document of
// another shard also has it.
//
// A search of one file is a search of one shard.

// Question is what a search asks a shard. Exactly one field is set.
type Question struct {
	Documents bool // how many there are
	Stemmers  bool
	Tags      bool
	Phrases   []*query.Expr // asks for Statistics
	Counts    []Matching
	Best      *BestQuestion    // asks for Found and Total
	Sorted    *SortedQuestion  // asks for Found
	Anchors   *AnchorsQuestion // asks for Matches
	Typed     *TypedQuestion
	Passages  *PassagesQuestion
	Sketches  *SketchesQuestion
	Similar   *SimilarQuestion
	Hits      *HitsQuestion
	Columns   *ColumnsQuestion
	Near      *NearQuestion

	Completion *CompletionQuestion
}

// Answer answers a Question, in the field of the same kind.
type Answer struct {
	Documents  int
	Stemmers   []string // names of the stemmers of documents that the shard has or had
	Tags       Tags
	Statistics Statistics
	Counts     []int
	Found      []Found // of Best and Sorted, in order
	Total      int     // of Best: how many match
	Matches    []float64
	Typed      []Typed
	Passages   []float64
	Sketches   []Sketched
	Similar    SimilarAnswer
	Hits       []Hit
	Columns    [][]float64 // for each of the weights, in order of the documents
	Near       []NearWord

	Completions []Completion
}

// Matching is the documents of a period that match an expression; nil matches all.
type Matching struct {
	Expr    *query.Expr
	Fetched query.Period
}

// Statistics are sums over the documents of one or all shards.
type Statistics struct {
	Rows, Tokens int64
	Documents    []int // with each phrase
}

// add adds the statistics of another shard about the same phrases.
func (s *Statistics) add(o Statistics) {
	s.Rows += o.Rows
	s.Tokens += o.Tokens
	if s.Documents == nil {
		s.Documents = make([]int, len(o.Documents))
	}
	for i, n := range o.Documents {
		s.Documents[i] += n
	}
}

// BestQuestion asks for the best documents by BM25. Statistics are those of all shards;
// Documents has the scored phrases of the expression, in order.
type BestQuestion struct {
	Matching
	N          int
	Weights    Weights
	Statistics Statistics
	URLs       []string // only documents with these canonical URLs; nil: all
}

// SortedQuestion asks for documents in an order that has nothing to do with words.
type SortedQuestion struct {
	Matching
	N      int
	ByDate bool // otherwise by rank
}

// AnchorsQuestion asks how well the anchors of documents agree with the words of a query.
type AnchorsQuestion struct {
	IDs   []int64
	Words []query.Word
}

// SketchesQuestion asks for what shows whether documents are alike.
type SketchesQuestion struct{ IDs []int64 }

// HitsQuestion asks for what a result page shows of documents. A shard on another machine
// compiles the query again, with the stemmers of all shards.
type HitsQuestion struct {
	IDs      []int64
	Query    string
	Stemmers []string
	Verbatim bool // Options.Verbatim

	compiled *query.Query // known in this process only
}

// Compiled returns the query of the question.
func (q *HitsQuestion) Compiled() (*query.Query, error) {
	if q.compiled != nil {
		return q.compiled, nil
	}
	return query.Compile(q.Query, stemmersOf(q.Stemmers), q.Verbatim)
}

// ColumnsQuestion asks for scores with other weights, for explanations.
type ColumnsQuestion struct {
	Expr       *query.Expr
	IDs        []int64 // ascending
	Weights    []Weights
	Statistics Statistics
}

// NearQuestion asks for words of similar spelling.
type NearQuestion struct {
	Word string
	Most int // edits
}

// NearWord is a word of similar spelling.
type NearWord struct {
	Word     string
	Distance int
}

// Found is a document that matches, with what it is sorted by.
type Found struct {
	ID              int64
	Score, Rank     float64
	URL             page.URL
	Language, Title string
	Fetched         int64 // of Sorted by date

	key *pageKey // nil if it comes from another machine
}

// Tags count documents by site and by language.
type Tags struct{ Sites, Languages map[string]int }

// Session is one state of a shard, during a search. It is not safe for concurrent use.
type Session interface {
	// Ask answers a question. An error that matches ErrUnavailable means that another
	// machine did not answer.
	Ask(ctx context.Context, q *Question) (*Answer, error)
	Close() error
}

// ErrUnavailable means that the holder of a shard did not answer.
var ErrUnavailable = errors.New("the shard is not available")

// stemmersOf returns the stemmers with these names.
func stemmersOf(names []string) (list []*analysis.Stemmer) {
	for _, name := range names {
		if st := analysis.StemmerFor(name); st != nil {
			list = append(list, st)
		}
	}
	return list
}
