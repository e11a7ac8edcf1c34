// Package relevancebench measures how often a search finds the right page, and what each
// part of the ranking contributes.
package relevancebench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/repository"
)

// Options of Run.
type Options struct {
	Files   []string // WARC files to replay into a fresh directory; none: Index is measured
	Index   string   // directory of index files, which are read only
	Server  *Server  // used instead of Index, and compared with files of its documents; nil: none
	Queries int      // of each kind, at most
	// QueryFile has queries with graded answers (queries.go), which are asked instead of
	// known items.
	QueryFile string
	Ablate    bool   // ask them with parts of the search left out, too
	Seed      uint64 // which queries these are
	Weights   search.Weights
	PerHost   int
	Language  string // of the reader
	Repo      repository.Options
	Log       io.Writer
}

// Result tells how often the right page is found.
type Result struct {
	Documents int            `json:"documents"`
	Seed      uint64         `json:"seed"`
	Weights   search.Weights `json:"weights"`
	PerHost   int            `json:"per_host"`
	Kinds     []KindResult   `json:"kinds,omitempty"`
	Judged    *JudgedResult  `json:"judged,omitempty"` // instead of Kinds, if there was a file of queries
}

// KindResult is of one kind of query.
type KindResult struct {
	Kind       string          `json:"kind"`
	What       string          `json:"what"`
	Population int             `json:"population"` // such queries there are, asked or not
	Queries    int             `json:"queries"`    // asked
	Variants   []VariantResult `json:"variants"`
	Agreement  *Agreement      `json:"agreement,omitempty"` // of a server with index files
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

// Run asks for known items: queries that one page answers, taken from the documents
// themselves.
//
// It asks a copy of the index, from which one link for each anchor query is taken away.
// A second copy has no anchors of other sites, a third none at all.
//
// With a file of queries, it asks these of the index as it is, and of plain FTS5.
//
// If a server is named, the queries run on its index, and on index files with the same
// documents. Nothing is left out then: known items run on a copy on the server, which is
// removed.
func Run(ctx context.Context, o Options) (*Result, error) {
	res, err := measure.InTemp(func(dir string) (*Result, error) { return run(ctx, dir, o) })
	if err != nil {
		return nil, fmt.Errorf("relevance: %w", err)
	}
	return res, nil
}

func run(ctx context.Context, dir string, o Options) (res *Result, err error) {
	var queries []judged
	if o.QueryFile != "" { // mistakes in the file are reported before the long work
		if queries, err = readQueries(o.QueryFile); err != nil {
			return nil, err
		}
	}
	source := o.Index
	if o.Server != nil {
		_, _ = fmt.Fprintln(o.Log, "copying the documents of the server")
		source = filepath.Join(dir, "served")
		if err := o.Server.copyTo(ctx, source); err != nil {
			return nil, fmt.Errorf("copy the documents of %s: %w", o.Server.Address, err)
		}
	}
	if len(o.Files) > 0 {
		_, _ = fmt.Fprintln(o.Log, "replaying into a fresh directory")
		data := filepath.Join(dir, "data")
		if _, err := measure.Replay(ctx, data, o.Files, o.Repo); err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		source = repository.IndexDir(data)
	}
	if o.QueryFile != "" {
		r, err := runJudged(ctx, o, queries, source, dir)
		if err != nil {
			return nil, err
		}
		return &Result{Documents: r.Documents, Weights: o.Weights, PerHost: o.PerHost, Judged: r}, nil
	}
	items, err := gatherItems(ctx, source)
	if err != nil {
		return nil, err
	}
	b := &bench{o: o, kinds: items.kinds(o.Seed, o.Queries)}
	_, _ = fmt.Fprintf(o.Log, "%d documents; copying the index without the links asked for\n", items.documents)
	if err := b.copies(ctx, source, dir); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	defer func() { err = errors.Join(err, b.close(ctx)) }()
	res = &Result{Documents: items.documents, Seed: o.Seed, Weights: o.Weights, PerHost: o.PerHost}
	res.Kinds, err = b.report(ctx)
	return res, err
}
