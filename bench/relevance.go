package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"indexer/index"
	"indexer/repository"
)

// RelevanceOptions of Relevance.
type RelevanceOptions struct {
	Files   []string // WARC files to replay into a fresh directory; none: Index is measured
	Index   string   // directory of index files, which are read only
	Queries int      // of each kind and half, at most
	Weights index.Weights
	PerHost int
	Tune    bool // choose weights on the first half of the queries
	Workers int
	Repo    repository.Options
	Log     io.Writer
}

// RelevanceResult tells how often the right page is found. All figures are of the second
// half of the queries; weights are chosen on the first.
type RelevanceResult struct {
	Documents int           `json:"documents"`
	Weights   index.Weights `json:"weights"`
	PerHost   int           `json:"per_host"`
	Kinds     []KindResult  `json:"kinds"`
	// Tuned are the weights that did best on the first half, and Trials how many were tried.
	Tuned  *index.Weights `json:"tuned_weights,omitempty"`
	Trials int            `json:"trials,omitempty"`
	// TunedKinds are the figures with them.
	TunedKinds []KindResult `json:"tuned_kinds,omitempty"`
}

// KindResult is of one kind of query.
type KindResult struct {
	Kind       string          `json:"kind"`
	What       string          `json:"what"`
	Population int             `json:"population"` // such queries there are, both halves
	Queries    int             `json:"queries"`    // asked, of the second half
	Variants   []VariantResult `json:"variants"`
}

// VariantResult is of one way to rank: everything, or with a part left out.
type VariantResult struct {
	Variant  string  `json:"variant"`
	Success1 float64 `json:"success_at_1"`
	Success5 float64 `json:"success_at_5"`
	MRR      float64 `json:"mrr"` // reciprocal rank within the first ten, 0 below
	// Missed are some of the queries whose page is not first.
	Missed []Miss `json:"missed,omitempty"`
}

// Miss is a query whose page is not the first hit.
type Miss struct {
	Query    string `json:"query"`
	Want     string `json:"want"`
	Got      string `json:"got"`
	Position int    `json:"position"` // of the page; 0: not among the first ten
}

// Relevance asks for known items: queries that one page answers, taken from the
// documents themselves.
//
// The index that is asked is a copy, from which the links that the queries were made of are taken away
// (one link for each anchor query); a second copy has no anchors at all.
func Relevance(ctx context.Context, o RelevanceOptions) (res *RelevanceResult, err error) {
	dir, err := os.MkdirTemp("", "indexer-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	source := o.Index
	if len(o.Files) > 0 {
		_, _ = fmt.Fprintln(o.Log, "replaying into a fresh directory")
		data := filepath.Join(dir, "data")
		if _, err := pipeline(ctx, data, PipelineOptions{Files: o.Files, Workers: o.Workers, Repo: o.Repo}); err != nil {
			return nil, fmt.Errorf("bench relevance: replay: %w", err)
		}
		source = repository.IndexDir(data)
	}
	items, err := gatherItems(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("bench relevance: %w", err)
	}
	kinds := items.kinds(o.Queries)
	_, _ = fmt.Fprintf(o.Log, "%d documents; copying the index without the links asked for, and without anchors\n", items.documents)
	b := &relevance{o: o, kinds: kinds}
	if err := b.copies(ctx, source, dir); err != nil {
		return nil, errors.Join(fmt.Errorf("bench relevance: %w", err), b.close())
	}
	defer func() { err = errors.Join(err, b.close()) }()
	res = &RelevanceResult{Documents: items.documents, Weights: o.Weights, PerHost: o.PerHost}
	if res.Kinds, err = b.report(ctx, o.Weights); err != nil || !o.Tune {
		return res, err
	}
	best, trials, err := b.tune(ctx, o.Weights)
	if err != nil {
		return nil, err
	}
	res.Tuned, res.Trials = &best, trials
	res.TunedKinds, err = b.report(ctx, best)
	return res, err
}
