package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/webindexer/indexer/index/postings"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
)

// BM25 as in the bm25() of FTS5, with c over columns and i over the phrases of an
// expression:
//
//	Σi idf(i) · f(i)·(k1+1) / (f(i) + k1·(1 - b + b·D/avg)),  f(i) = Σc weight(c)·occurrences(i,c)
//	idf(i) = ln((N - n(i) + ½) / (n(i) + ½)), but at least 10⁻⁶
//
// D is the number of tokens of the document in all columns, avg the average of D, N the
// number of documents, and n(i) the number of documents with the phrase in the columns in
// which it is looked for. Excluded phrases do not count, and neither does the column tags,
// which has no weight.
const (
	bm25K1         = 1.2
	bm25B          = 0.75
	leastIDF       = 1e-6
	weighedColumns = 6                  // title, body, anchors, outside, url, rest
	allColumns     = weighedColumns + 1 // with the tags
)

// columnWeights are the weights of the columns of the table fts; tags have none.
type columnWeights [allColumns]float64

// in returns the weights with 0 for all other columns.
func (w columnWeights) in(columns postings.Columns) columnWeights {
	for c := range w {
		if columns&(1<<c) == 0 {
			w[c] = 0
		}
	}
	return w
}

func weightsOf(w *search.Weights) columnWeights {
	return columnWeights{w.Title, w.Body, w.Anchors, w.Outside, w.URL, w.Rest, 0}
}

// scores computes the scores of documents, in ascending order of ids, by the phrases of an
// expression. It returns one list for each of the weights. The statistics are those of all
// documents, which may be in several shards.
func (x *textIndex) scores(ctx context.Context, expr *query.Expr, st search.Statistics, ids []int64, weights ...columnWeights) ([][]float64, error) {
	k, err := x.saturation(ctx, st, ids)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(weights))
	for i := range out {
		out[i] = make([]float64, len(ids))
	}
	phrases := expr.Scored()
	if len(phrases) != len(st.Documents) {
		return nil, fmt.Errorf("statistics of %d phrases for an expression with %d", len(st.Documents), len(phrases))
	}
	for i, phrase := range phrases {
		f, err := x.phrase(ctx, phrase) // no read: it was matched before
		if err != nil {
			return nil, err
		}
		weight := idf(st.Rows, st.Documents[i])
		for w := range weights {
			addScores(out[w], f, weights[w].in(phrase.In), weight, ids, k)
		}
	}
	return out, nil
}

// saturation returns K = k1·(1 - b + b·D/avg) for each document.
func (x *textIndex) saturation(ctx context.Context, st search.Statistics, ids []int64) ([]float64, error) {
	lengths, err := x.v.lengths(ctx, ids)
	if err != nil {
		return nil, err
	}
	k := make([]float64, len(ids))
	for i, d := range lengths {
		k[i] = saturation(st, float64(d))
	}
	return k, nil
}

// saturation returns the saturation of a document with the given number of tokens.
func saturation(st search.Statistics, tokens float64) float64 {
	return bm25K1 * (1 - bm25B + bm25B*tokens/(float64(st.Tokens)/float64(st.Rows)))
}

// bm25 returns what a phrase with this weighted frequency adds to a score.
func bm25(idf, frequency, saturation float64) float64 {
	return idf * (frequency * (bm25K1 + 1) / (frequency + saturation))
}

// addScores adds what a phrase contributes to the scores of documents. k has their
// saturations.
func addScores(scores []float64, f *found, weights columnWeights, idf float64, ids []int64, k []float64) {
	at := 0 // in f.ids
	for i, id := range ids {
		if at += postings.Seek(f.ids[at:], id); at == len(f.ids) {
			break
		}
		if f.ids[at] != id {
			continue
		}
		if frequency := f.list.Weigh(f.in(at), weights[:]); frequency > 0 {
			scores[i] += bm25(idf, frequency, k[i])
		}
	}
}

// idf returns the inverse document frequency of a phrase that this many of the documents have.
func idf(rows int64, documents int) float64 {
	have := float64(documents)
	if idf := math.Log((float64(rows) - have + 0.5) / (have + 0.5)); idf > 0 {
		return idf
	}
	return leastIDF
}

// scored is a document with its BM25 score.
type scored struct {
	id   int64
	text float64
}

// better orders documents by score, highest first, and equal scores by row id.
func better(a, b scored) int { return cmp.Or(cmp.Compare(b.text, a.text), cmp.Compare(a.id, b.id)) }

// bestOf returns the best n documents, in order.
func bestOf(ids []int64, scores []float64, n int) []scored {
	if n <= 0 {
		return nil
	}
	top := make([]scored, 0, min(2*n, len(ids)))
	worst := scored{}
	for i, id := range ids {
		s := scored{id, scores[i]}
		if worst.id != 0 && better(s, worst) > 0 {
			continue
		}
		if top = append(top, s); len(top) == 2*n {
			slices.SortFunc(top, better)
			top = top[:n]
			worst = top[n-1]
		}
	}
	slices.SortFunc(top, better)
	return top[:min(n, len(top))]
}
