package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/feed"
	"github.com/webindexer/indexer/repository/snapshot"
)

const exportHelp = `
Write the contents of the index. Export waits until all work is done, and writes the
state at that moment.

  jsonl      one JSON object per line. Documents, sorted by URL: url, title, text,
             language, rank, members, content_key, fetched_at, inlinks. Links:
             source, target, anchor. json is the same format, and also reports
             errors as JSON
  parquet    the same, for DuckDB, Spark, pandas
  ranks-csv  hosts by harmonic centrality and by rank, in the layout of Common
             Crawl's ranks files
  cdxj       an index of the stored fetches, as used by web archives
  ciff       the inverted index, for retrieval research
  similar    all pairs of documents whose main contents have a similarity of at least
             --threshold, one JSON object per line, sorted by URL: url, other,
             similarity. The similarity is estimated as by indexer similar
  wacz       the pages that --url names, with their scripts, style sheets, images and
             data, as far as these are stored: one file that replayweb.page and other
             replay tools open

After documents, the last line on standard error is "digest sha256:…", computed over
everything but ranks and times. The same fetches give the same digest, in whatever order
and however often they were loaded, so two indexes can be compared by it.

If another process has the data directory open, the command runs in that process.` + momentHelp + `

If a history is kept, export reports the timestamp of the state that it wrote; --at with
that timestamp writes the same output again.`

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export [--format FORMAT] [--table TABLE] [--url URL] [--output FILE] [--at TIME]",
		Short: "Write documents, links, ranks, captures, terms, similar pairs or whole pages",
		Long:  long(exportHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples(
			"indexer export > documents.jsonl", "indexer export | jq -r .url", "indexer export --output documents.jsonl",
			"indexer export --format parquet --table links --output links.parquet", "indexer export --at 2h --output before.jsonl",
			"indexer export --format similar --threshold 0.9 | jq -r .other",
			"indexer export --format wacz --url https://example.com/ --output page.wacz",
		),
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.thresholdGiven = cmd.Flags().Changed("threshold")
			return a.export(cmd.Context(), f)
		},
	}
	cmd.Flags().StringVar(&f.format, "format", export.FormatJSONL, "`format` to write: jsonl (or json), parquet, ranks-csv, cdxj, ciff, similar or wacz")
	cmd.Flags().StringVar(&f.table, "table", "", "`table` to write as jsonl or parquet: documents or links (default documents)")
	cmd.Flags().Float64Var(&f.threshold, "threshold", export.DefaultThreshold, "minimum `similarity` of pairs, from 0.5 to 1")
	cmd.Flags().StringArrayVar(&f.urls, "url", nil, "`URL` of a page to write as wacz; may be given several times")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "`file` or directory to write to; a regular file is replaced only when the new one is complete (default: standard output)")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "out" {
			name = "output"
		}
		return pflag.NormalizedName(name)
	})
	momentFlag(cmd, &f.at)
	return cmd
}

// exportFlags are the flags of export.
type exportFlags struct {
	format, table, output, at string
	threshold                 float64
	thresholdGiven            bool
	urls                      []string
}

// export asks for the contents of the index.
func (a *app) export(ctx context.Context, f exportFlags) error {
	if f.format == "json" {
		f.format = export.FormatJSONL
	}
	choice, err := export.Choose(f.format, f.table)
	if err != nil {
		return &usageError{reason: err.Error(), help: "indexer export"}
	}
	if f.thresholdGiven && f.format != export.FormatSimilar {
		return &usageError{reason: "--threshold needs --format similar", help: "indexer export"}
	}
	if !(f.threshold >= export.LeastThreshold && f.threshold <= 1) {
		return &usageError{reason: fmt.Sprintf("--threshold must be from %v to 1", export.LeastThreshold), help: "indexer export"}
	}
	pages, err := pagesToExport(f.format, f.urls)
	if err != nil {
		return err
	}
	moment, err := parseMoment(f.at, time.Now())
	if err != nil {
		return err
	}
	question, err := json.Marshal(exportRequest{Choice: choice, Threshold: f.threshold, URLs: pages, At: moment})
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := a.exportTo(ctx, f.output, choice, string(question)); err != nil {
		return err
	}
	return a.stderr.endWith()
}

// exportRequest is the argument of a request for export.
type exportRequest struct {
	export.Choice
	Threshold float64         `json:"threshold,omitempty"`
	URLs      []page.URL      `json:"urls,omitempty"`
	At        snapshot.Moment `json:"at"`
}

// pagesToExport checks the URLs of --url.
func pagesToExport(format string, urls []string) ([]page.URL, error) {
	switch {
	case format != export.FormatWACZ && len(urls) > 0:
		return nil, &usageError{reason: "--url needs --format wacz", help: "indexer export"}
	case format == export.FormatWACZ && len(urls) == 0:
		return nil, &usageError{reason: "--format wacz needs --url, the page to write", help: "indexer export"}
	case len(urls) > feed.MaxPages:
		return nil, &usageError{reason: fmt.Sprintf("--url may be given %d times, not %d", feed.MaxPages, len(urls)), help: "indexer export"}
	}
	return parseURLs(urls)
}

func (a *app) exportTo(ctx context.Context, output string, choice export.Choice, question string) error {
	if output != "-" && isDirectory(output) {
		output = filepath.Join(output, choice.FileName())
	}
	binary := ""
	if choice.IsBinary() {
		binary = choice.Format + " is a binary format"
	}
	return a.writeOutput(ctx, "indexer export", "--output", cmp.Or(output, "-"), binary, func(w io.Writer) error {
		return a.ask(ctx, a.request("export", question), w)
	})
}

func exportTable(ctx context.Context, r *repository.Repository, req control.Request, stdout, stderr io.Writer) error {
	want := exportRequest{Choice: export.Choice{Format: export.FormatJSONL, Table: export.Documents}}
	if len(req.Args) > 0 {
		if err := json.Unmarshal([]byte(req.Args[0]), &want); err != nil {
			return &usageError{reason: "the request for export cannot be read: " + err.Error()}
		}
	}
	res, err := progress.Report(ctx, stderr, func(tell progress.Tell) (feed.Result, error) {
		return r.ExportAs(ctx, repository.ExportOptions{Choice: want.Choice, Threshold: want.Threshold, URLs: want.URLs, At: want.At, Tell: tell}, stdout)
	})
	if err != nil {
		return err
	}
	return sayLast(stderr, exportText(res, want, r.KeepsHistory()))
}

// exportText reports what was written. If there is a digest, it is the last line.
func exportText(res feed.Result, want exportRequest, history bool) string {
	text := "exported " + count(res.Documents, strings.TrimSuffix(want.Table, "s"))
	if want.Format == export.FormatWACZ {
		text = fmt.Sprintf("exported %s of %s", count(res.Captures, "capture"), count(res.Documents, "page"))
	}
	if history || !want.At.IsNow() {
		text += fmt.Sprintf(" as of timestamp %d", res.TS)
	}
	text += "\n"
	if res.Unsettled > 0 {
		text += "about to change, or to be removed, at that moment: " + count(res.Unsettled, "document") + "\n"
	}
	if res.Missing > 0 {
		text += fmt.Sprintf("%s not stored\n", resourcesAre(res.Missing))
	}
	if res.Digest != "" {
		text += "digest " + res.Digest + "\n"
	}
	return text
}

func resourcesAre(n int) string {
	if n == 1 {
		return "1 resource of these pages is"
	}
	return fmt.Sprintf("%d resources of these pages are", n)
}
