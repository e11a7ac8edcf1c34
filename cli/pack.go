package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/sites"
)

const packHelp = `
Pack small webs written as text into a WARC file, as if a crawler had recorded them, for
tests, demonstrations and bug reports. Several texts become one file. The same texts give
the same bytes.

A text may begin with a comment. Each fetch follows as a line with its time, URL, status
(200 by default) and Location, then header fields, and then the body:

  -- 2024-03-01 http://museum.example/ --
  <title>Museum</title>
  <p>The lamp was lit in 1871.

  -- 2024-03-02T08:30:00Z http://museum.example/old 301 / --

In place of a status, "revisit" stands for an unchanged page, and "failed" for no answer.
testdata/sites in the source has examples, and internal/sites/doc.go the whole format.

--from and --until select fetches by time (from ≤ time < until), so that one history can
be packed as several crawls.`

func (a *app) packCommand() *cobra.Command {
	var output, from, until string
	cmd := &cobra.Command{
		Use:   "pack SITE.txt… -o FILE.warc.gz",
		Short: "Make a WARC file from small webs written as text",
		Long:  long(packHelp, statusDone, statusFailed, statusUsage),
		Example: examples(
			"indexer pack testdata/sites/*.txt -o sites.warc.gz",
			"indexer pack --until 2024-04-01 testdata/sites/bakery.txt -o march.warc.gz",
		),
		Args: needsArgs("the text of at least one site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return &usageError{reason: "indexer pack needs a file to write: -o FILE.warc.gz", help: "indexer pack"}
			}
			opts, err := packOptions(from, until)
			if err != nil {
				return err
			}
			return a.pack(cmd.Context(), args, output, opts)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` to write (-: standard output); a regular file is replaced only when the new one is complete")
	cmd.Flags().StringVar(&from, "from", "", "pack only fetches at or after this `time`: 2006-01-02 or 2006-01-02T15:04:05Z")
	cmd.Flags().StringVar(&until, "until", "", "pack only fetches before this `time`")
	return cmd
}

func (a *app) pack(ctx context.Context, paths []string, output string, opts sites.PackOptions) error {
	fetches := 0
	write := func(w io.Writer) error {
		for _, path := range paths {
			site, err := sites.Load(path)
			if unread, ok := errors.AsType[*fs.PathError](err); ok {
				return &inputError{what: path, reason: unread.Err.Error()}
			}
			if err != nil {
				return err
			}
			n, err := sites.Pack(w, site, opts)
			if err != nil {
				return err
			}
			fetches += n
		}
		return nil
	}
	if err := refuseInput(paths, output); err != nil {
		return err
	}
	if err := a.writeOutput(ctx, "indexer pack", "--output", output, "a WARC file is binary", write); err != nil {
		return err
	}
	if output == "-" {
		output = "standard output"
	}
	_, err := fmt.Fprintf(a.stderr, "packed %s, %s, into %s\n", count(len(paths), "site"), fetchCount(int64(fetches)), output)
	return err
}

// refuseInput returns an error if the output of pack is one of the texts, which it would replace.
func refuseInput(paths []string, output string) error {
	to, err := os.Stat(output)
	if err != nil || output == "-" {
		return nil // standard output, or a new file; if that cannot be written, writing says why
	}
	for _, path := range paths {
		if from, err := os.Stat(path); err == nil && os.SameFile(from, to) {
			return &usageError{reason: "--output " + output + " would replace the text " + path + "; name another file", help: "indexer pack"}
		}
	}
	return nil
}

func packOptions(from, until string) (o sites.PackOptions, err error) {
	if o.From, err = parseTime("from", from); err != nil {
		return o, err
	}
	o.Until, err = parseTime("until", until)
	return o, err
}

func parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, &usageError{reason: fmt.Sprintf("flag --%s: %q is not a time; want 2006-01-02 or 2006-01-02T15:04:05Z", flag, text), help: "indexer pack"}
}
