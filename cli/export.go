package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"indexer/control"
	"indexer/repository"
)

const exportHelp = `
Write all documents of the index, sorted by URL, as of a moment at which nothing
was left to do: export waits for it. With --format jsonl, the only one so far, a
line is one JSON object: url, title, text, language, rank, members, content_key,
fetched_at, inlinks.

The last line on standard error is "digest sha256:…", over everything but ranks
and times: the same fetches give the same digest, in whichever order and however
often they were loaded. It tells whether two indexes are the same.

While another process has the data directory, that process is asked.`

func (a *app) exportCommand() *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:     "export [--format jsonl] [--output FILE]",
		Short:   "Write the index documents in a standard format",
		Long:    long(exportHelp, statusDone, statusFailed, statusUsage, statusNoSpace, statusInUse),
		Example: examples("indexer export > documents.jsonl", "indexer export --output documents.jsonl", "indexer export | jq -r .url"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "jsonl" && format != "json" {
				return &usageError{reason: fmt.Sprintf("export has no format %q; there is jsonl", format), help: "indexer export"}
			}
			write := func(w io.Writer) error { return a.ask(cmd.Context(), a.request("export"), w) }
			if output == "" || output == "-" {
				return write(a.stdout)
			}
			return replaceFile(output, write)
		},
	}
	cmd.Flags().StringVar(&format, "format", "jsonl", "`form` of the documents: jsonl")
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` to write; it appears when it is complete (default: standard output)")
	return cmd
}

func export(ctx context.Context, r *repository.Repository, _ control.Request, stdout, stderr io.Writer) error {
	res, err := r.Export(ctx, stdout)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stderr, "exported %d documents\ndigest %s\n", res.Documents, res.Digest)
	return err
}
