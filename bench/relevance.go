package main

import (
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/relevancebench"
	"github.com/webindexer/indexer/index/opensearch"
	"github.com/webindexer/indexer/index/search"
)

const relevanceHelp = `
Ask for known items: titles that only one document has, halves of such titles in
Chinese, Japanese and Korean, and anchors that lead to one document only, after one of
their links was removed from the index. The report says how often the document is the
first hit, how often it is among the first five, and the mean reciprocal rank: with
everything, and with one part of the ranking left out after the other.

With --queries FILE, queries that people wrote are asked instead, and the file grades
their answers. The report says how often the first hit, or one of the first five, is a
page that was asked for; nDCG@10; how many hits of a page repeat another one, for these
queries and for the most frequent words of titles; how many snippets are navigation; and
how often the first hit of an English query is in another language. Plain FTS5 answers
the same queries on the same documents. --ablate leaves out one part of the search after
the other.

Without files to replay, the index of the data directory is copied and asked; with files,
these are replayed into a temporary directory. --seed selects other known items.

With --index opensearch+https://HOST/NAME, the index on that server is asked, and index
files with the same documents. The report has the figures of both, and how often both
have the same hits. Known items are asked of a copy on the server, which is then removed.`

func (a *app) relevanceCommand() *cobra.Command {
	var o relevancebench.Options
	var missed bool
	var queries string
	cmd := &cobra.Command{
		Use:     "relevance [FILE.warc[.gz]…]",
		Short:   "How often the right page is found, and what each signal adds",
		Long:    strings.TrimSpace(relevanceHelp),
		Example: examples("relevance", "relevance crawl.warc.gz", "relevance --missed --seed 7 crawl.warc.gz", "relevance --queries queries.txt --ablate crawl.warc.gz"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := takeQueries(cmd, queries, &o); err != nil {
				return err
			}
			if err := checkFiles(cmd, args); err != nil {
				return err
			}
			if o.Server, err = a.indexServer(cmd, args, o.Ablate); err != nil {
				return err
			}
			if o.Index, err = a.index(cmd, len(args) == 0 && o.Server == nil); err != nil {
				return err
			}
			o.Files, o.Weights, o.PerHost, o.Language = args, search.Weights(a.cfg.Query.Weights), a.cfg.Query.PerHost, a.cfg.Query.Language
			o.Repo, o.Log = a.repositoryOptions(), a.stderr
			res, err := relevancebench.Run(cmd.Context(), o)
			return a.print(err, res, func() string { return res.Text(missed) })
		},
	}
	cmd.Flags().StringVar(&queries, "queries", "500", "`number` of queries of each kind, at most; or a file of queries with graded answers")
	cmd.Flags().BoolVar(&o.Ablate, "ablate", false, "also ask the queries of the file with parts of the search left out")
	cmd.Flags().String("index", "sqlite:", "`URL` of an index on OpenSearch to ask, in addition to index files with the same documents")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "`number` that decides which queries are asked")
	cmd.Flags().BoolVar(&missed, "missed", false, "list queries whose page was not first")
	pipelineFlags(cmd)
	return cmd
}

// indexServer is the server whose index is asked; nil for index files. Files are always replayed
// into index files, whatever the settings say.
func (a *app) indexServer(cmd *cobra.Command, files []string, ablate bool) (*relevancebench.Server, error) {
	if !opensearch.Is(a.cfg.Index) || len(files) > 0 && !cmd.Flags().Changed("index") {
		return nil, nil
	}
	if len(files) > 0 || ablate {
		return nil, usage(cmd, "--index asks an index on OpenSearch as it is, so it goes with no files and not with --ablate")
	}
	at, err := opensearch.ParseAddress(a.cfg.Index)
	if err != nil {
		return nil, usage(cmd, "--index: %v", err)
	}
	auth, err := opensearch.ReadCredentials(a.cfg.OpenSearch.Credentials)
	if err != nil {
		return nil, usage(cmd, "setting opensearch.credentials: %v", err)
	}
	return &relevancebench.Server{Address: at, Options: opensearch.Options{Credentials: auth, CAFile: a.cfg.OpenSearch.CA}}, nil
}

// takeQueries reads the value of --queries: how many known items of each kind to ask for,
// or the file whose queries are asked.
func takeQueries(cmd *cobra.Command, value string, o *relevancebench.Options) error {
	if n, err := strconv.Atoi(value); err == nil {
		o.Queries = n
		if o.Ablate {
			return usage(cmd, "--ablate needs --queries with a file; known items are always asked with parts left out")
		}
		return inRange(cmd, bound{"queries", n, 1, 100_000})
	}
	if _, err := os.Stat(value); err != nil {
		return usage(cmd, "--queries is neither a number nor a file that can be read: %v", err)
	}
	o.QueryFile = value
	return nil
}
