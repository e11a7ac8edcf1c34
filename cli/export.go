package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"indexer/control"
	"indexer/export"
	"indexer/repository"
)

const exportHelp = `
Write what the index holds, as of a moment at which nothing was left to do: export
waits for it.

  jsonl      a JSON object a line. Of documents, sorted by URL: url, title, text,
             language, rank, members, content_key, fetched_at, inlinks. Of links:
             source, target, anchor
  parquet    the same, for DuckDB, Spark, pandas
  ranks-csv  hosts by harmonic centrality and by rank, in the layout of Common
             Crawl's ranks files
  cdxj       an index of the stored fetches, as web archives have them
  ciff       the inverted index, for retrieval research

Of documents the last line on standard error is "digest sha256:…", over everything
but ranks and times: the same fetches give the same digest, in whichever order and
however often they were loaded. It tells whether two indexes are the same.

While another process has the data directory, that process is asked.
` + momentHelp + `
With a history, export tells the timestamp of what it wrote, which --at takes to
write it again.`

func (a *app) exportCommand() *cobra.Command {
	var format, table, output, at string
	cmd := &cobra.Command{
		Use:   "export [--format FORMAT] [--table TABLE] [--output FILE] [--at TIME]",
		Short: "Write documents, links, ranks, captures or the inverted index in a standard format",
		Long:  long(exportHelp, statusDone, statusFailed, statusUsage, statusNoSpace, statusInUse),
		Example: examples(
			"indexer export > documents.jsonl", "indexer export | jq -r .url", "indexer export --output documents.jsonl",
			"indexer export --format parquet --table links --output links.parquet", "indexer export --at 2h --output before.jsonl",
		),
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format == "json" {
				format = export.FormatJSONL
			}
			choice, err := export.Choose(format, table)
			if err != nil {
				return &usageError{reason: err.Error(), help: "indexer export"}
			}
			moment, err := parseMoment(at, time.Now())
			if err != nil {
				return err
			}
			question, err := json.Marshal(exportRequest{choice, moment})
			if err != nil {
				return fmt.Errorf("export: %w", err)
			}
			return a.exportTo(cmd.Context(), output, choice, string(question))
		},
	}
	cmd.Flags().StringVar(&format, "format", export.FormatJSONL, "`form` to write: jsonl, parquet, ranks-csv, cdxj, ciff")
	ownFlag(cmd, "format")
	cmd.Flags().StringVar(&table, "table", "", "`kind` to write as jsonl or parquet: documents, links (default documents)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` to write, or a directory; a regular file is replaced when the new one is complete (default: standard output)")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "out" {
			name = "output"
		}
		return pflag.NormalizedName(name)
	})
	momentFlag(cmd, &at)
	return cmd
}

// exportRequest is what export is asked for, as the argument of a request.
type exportRequest struct {
	export.Choice
	At repository.Moment `json:"at"`
}

func (a *app) exportTo(ctx context.Context, output string, choice export.Choice, question string) error {
	write := func(w io.Writer) error { return a.ask(ctx, a.request("export", question), w) }
	if output == "" || output == "-" {
		if _, tty := terminal(a.stdout); tty && choice.IsBinary() {
			return &usageError{reason: choice.Format + " is nothing to look at; name a file with --output", help: "indexer export"}
		}
		return write(a.stdout)
	}
	if info, err := os.Stat(output); err == nil && info.IsDir() {
		output = filepath.Join(output, choice.FileName())
	}
	return writeFile(ctx, output, write)
}

func exportTable(ctx context.Context, r *repository.Repository, req control.Request, stdout, stderr io.Writer) error {
	want := exportRequest{Choice: export.Choice{Format: export.FormatJSONL, Table: export.Documents}}
	if len(req.Args) > 0 {
		if err := json.Unmarshal([]byte(req.Args[0]), &want); err != nil {
			return &usageError{reason: "export cannot be asked that: " + err.Error()}
		}
	}
	res, err := r.ExportAs(ctx, repository.ExportOptions{Choice: want.Choice, At: want.At}, stdout)
	if err != nil && ctx.Err() != nil && res.Total > 0 {
		return fmt.Errorf("%d of %s left to write: %w", res.Total-res.Documents, count(res.Total, "document"), err)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(stderr, exportText(res, want, r.KeepsHistory()))
	return err
}

// exportText says what was written. Its last line is the digest, where there is one.
func exportText(res repository.ExportResult, want exportRequest, history bool) string {
	text := fmt.Sprintf("exported %d %s", res.Documents, want.Table)
	if history || !want.At.IsNow() {
		text += fmt.Sprintf(" as of timestamp %d", res.TS)
	}
	text += "\n"
	if res.Unsettled > 0 {
		text += fmt.Sprintf("%d of the index were about to change, or to go, at that moment\n", res.Unsettled)
	}
	if res.Digest != "" {
		text += "digest " + res.Digest + "\n"
	}
	return text
}
