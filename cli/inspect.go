package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

const inspectHelp = `
Show everything known about one URL: what was fetched, where it leads, which URLs have
the same content, which of them is in the index, its links in both directions, the
pages in its frames, and, in plain words, why it is or is not in the index. For a URL of
a crawl, also show the rules that admitted or excluded it, its last ten visits, and when
and why the next visit is due. If it was not fetched, inspect names the rule, limit or
failure that is the reason; docs/crawl.md lists them.

A URL that was never seen is not an error: the answer says so. If another process has
the data directory open, the command runs in that process.

The rank is the rank of the document, the sum over all its URLs. The rank of this URL
(in JSON: url_rank) is its share. A URL that was neither fetched nor linked to has no
rank. In text, each page that links to the document, or that it links to, is listed
once, with the anchors of all its links; in JSON, each link is listed separately.

In text, lists show the first 20 entries and the total; in JSON they are complete (the
totals are members_total, outlinks_total, inlinks_total, linked_pages_total and
linking_pages_total). --limit sets how many entries of each list are shown. If a list
was cut, "next" gives a cursor, and --after CURSOR shows the entries that follow in all
lists. If there is no "next", nothing was left out. Long lists are read in parts, never
as a whole into memory.

Where pages are rendered (--render of crawl and replay), inspect also says why a page is
rendered or not, what it said before its scripts ran and what it says now, which
resources it asked for and what became of them, and which errors it reported. For a
resource it lists pages that need it. --screenshot FILE writes the page's screenshot.` + momentHelp

// inspectRequest is the second argument of a request for inspect; the first is the URL. In
// JSON it embeds the fields of the moment, because older versions send nothing else.
type inspectRequest struct {
	snapshot.Moment
	Limit *int   `json:"limit,omitempty"` // nil: the default of the format
	After string `json:"after,omitempty"`
	// Screenshot asks for the screenshot instead.
	Screenshot bool `json:"screenshot,omitempty"`
}

func (a *app) inspectCommand() *cobra.Command {
	f := inspectFlags{limit: new(int)}
	cmd := &cobra.Command{
		Use:   "inspect [--at TIME] [--limit N] [--after CURSOR] [--screenshot FILE] URL",
		Short: "Show everything known about a URL, and why it is or is not in the index",
		Long:  long(inspectHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples(
			"indexer inspect https://skerryrock.example/",
			"indexer inspect --format json https://skerryrock.example/ | jq .reason",
			"indexer inspect --at 2h https://skerryrock.example/",
			"indexer inspect --limit 1000 --format json https://skerryrock.example/ | jq -r .next",
			"indexer inspect --screenshot page.webp https://skerryrock.example/",
		),
		Args: exactly(1, "one URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("limit") {
				f.limit = nil
			}
			f.picture = cmd.Flags().Changed("screenshot")
			return a.inspect(cmd.Context(), args[0], f)
		},
	}
	momentFlag(cmd, &f.at)
	cmd.Flags().IntVar(f.limit, "limit", 0, "show at most this many `entries` of each list; 0: all (default: 20 in text, all in JSON)")
	cmd.Flags().StringVar(&f.after, "after", "", "continue at a `cursor` that inspect printed for the same URL")
	cmd.Flags().StringVar(&f.screenshot, "screenshot", "", "write the screenshot of the rendered page to a `file` (-: standard output) and show nothing else")
	return cmd
}

// inspectFlags are the flags of inspect.
type inspectFlags struct {
	at, after  string
	limit      *int // nil: not given
	picture    bool // --screenshot was given
	screenshot string
}

// inspect asks for what is known about a URL.
func (a *app) inspect(ctx context.Context, raw string, f inspectFlags) error {
	if _, err := parseURL(raw); err != nil {
		return err
	}
	if f.picture && f.screenshot == "" {
		return &usageError{reason: "--screenshot needs the name of a file", help: "indexer inspect"}
	}
	if f.limit != nil && *f.limit < 0 {
		return &usageError{reason: "--limit must not be negative", help: "indexer inspect"}
	}
	moment, err := parseMoment(f.at, time.Now())
	if err != nil {
		return err
	}
	question, err := json.Marshal(inspectRequest{Moment: moment, Limit: f.limit, After: f.after, Screenshot: f.picture})
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	ask := func(w io.Writer) error { return a.ask(ctx, a.request("inspect", raw, string(question)), w) }
	if f.picture {
		return a.writeOutput(ctx, "indexer inspect", "--screenshot", f.screenshot, "a screenshot is an image", ask)
	}
	return ask(a.stdout)
}

func parseURL(raw string) (page.URL, error) {
	u, err := page.ParseURL(raw)
	switch {
	case err == nil:
		return u, nil
	case raw == "":
		return "", &inputError{what: "the URL is empty", reason: "want one like https://example.com/"}
	case !strings.Contains(raw, "://"):
		return "", &inputError{what: raw, reason: "not a complete http or https URL; want one like https://example.com/"}
	case errors.Is(err, page.ErrURLTooLong):
		return "", &inputError{what: strings.ToValidUTF8(raw[:min(80, len(raw))], "") + "…", reason: fmt.Sprintf("the URL is longer than %d bytes; longer URLs are never fetched or stored as links", page.MaxURLLength)}
	case errors.Is(err, page.ErrNotHTTP):
		return "", &inputError{what: raw, reason: "not an http or https URL; only these are fetched or stored as links"}
	}
	return "", &inputError{what: raw, reason: "not a valid URL: want one like https://example.com/"}
}

func parseURLs(list []string) ([]page.URL, error) {
	urls := make([]page.URL, len(list))
	for i, raw := range list {
		var err error
		if urls[i], err = parseURL(raw); err != nil {
			return nil, err
		}
	}
	return urls, nil
}

func inspectURL(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	if len(req.Args) != 1 && len(req.Args) != 2 {
		return &usageError{reason: "inspect needs one URL"}
	}
	u, err := parseURL(req.Args[0])
	if err != nil {
		return err
	}
	var asked inspectRequest
	if len(req.Args) == 2 {
		if err := json.Unmarshal([]byte(req.Args[1]), &asked); err != nil {
			return &usageError{reason: "the request for inspect cannot be read: " + err.Error()}
		}
	}
	if asked.Screenshot {
		return sendScreenshot(ctx, r, u, asked.Moment, stdout)
	}
	opts := inspect.Options{At: asked.Moment, After: asked.After}
	switch {
	case asked.Limit != nil:
		opts.Limit = *asked.Limit
	case req.Format != "json":
		opts.Limit = maxListed
	}
	out := bufio.NewWriterSize(stdout, 32<<10)
	err = inspect.Long(ctx, r, u, opts, func(i *inspect.Inspected, tx *txn.Txn) error {
		visits, err := inspectVisits(ctx, r, tx, u, asked.Moment)
		if err != nil {
			return err
		}
		if req.Format == "json" {
			return inspectionJSON(out, i, visits)
		}
		return inspectionText(out, i, visits)
	})
	if errors.Is(err, inspect.ErrCursor) {
		return &usageError{reason: "--after: " + err.Error(), help: "indexer inspect"}
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// inspectVisits returns what the crawl knows about a URL, or nil.
func inspectVisits(ctx context.Context, r *repository.Repository, tx *txn.Txn, u page.URL, m snapshot.Moment) (*frontier.Inspection, error) {
	if m.IsNow() {
		return frontier.Inspect(ctx, r.DB(), u)
	}
	return frontier.InspectAt(ctx, tx, u)
}
