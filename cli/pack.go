package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"indexer/sites"
)

const packHelp = `
Pack small webs that people can read and write into a WARC file, as if a crawler
had recorded them: for tests, demonstrations and reports of mistakes. The texts
are in testdata/sites; package sites describes their form. Several become one
file. The same texts give the same bytes.

--from and --until choose fetches by their time (from ≤ time < until), so that
one history can be packed as several crawls.`

func (a *app) packCommand() *cobra.Command {
	var output, from, until string
	cmd := &cobra.Command{
		Use:   "pack SITE.txt… -o FILE.warc.gz",
		Short: "Make a WARC file of small webs written as text",
		Long:  long(packHelp, statusDone, statusFailed, statusUsage, statusNoSpace),
		Example: examples(
			"indexer pack testdata/sites/*.txt -o sites.warc.gz",
			"indexer pack --until 2024-04-01 testdata/sites/bakery.txt -o march.warc.gz",
		),
		Args: atLeast(1, "the text of at least one site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return &usageError{reason: "indexer pack needs the file to write: -o FILE.warc.gz", help: "indexer pack"}
			}
			opts, err := packOptions(from, until)
			if err != nil {
				return err
			}
			return a.pack(cmd.Context(), args, output, opts)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` to write; a regular file is replaced when the new one is complete")
	cmd.Flags().StringVar(&from, "from", "", "first `time`, 2006-01-02 or 2006-01-02T15:04:05Z")
	cmd.Flags().StringVar(&until, "until", "", "`time` from which on nothing is packed")
	return cmd
}

func (a *app) pack(ctx context.Context, paths []string, output string, opts sites.PackOptions) error {
	fetches := 0
	err := writeFile(ctx, output, func(w io.Writer) error {
		for _, path := range paths {
			site, err := sites.Load(path)
			if err != nil {
				return err
			}
			if err := sites.Pack(w, site, opts); err != nil {
				return err
			}
			fetches += len(site.Fetches())
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stderr, "packed %s, %s, into %s\n", count(len(paths), "site"), fetchCount(int64(fetches)), output)
	return err
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
	return time.Time{}, &usageError{reason: fmt.Sprintf("flag --%s: %q is no time; want 2006-01-02 or 2006-01-02T15:04:05Z", flag, text), help: "indexer pack"}
}
