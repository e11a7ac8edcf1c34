package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"indexer/control"
	"indexer/frontier"
	"indexer/observers"
	"indexer/page"
	"indexer/repository"
	"indexer/txn"
)

const inspectHelp = `
Tell everything the repository knows of one URL: what was fetched, where it leads,
which URLs have the same content, which of them stands in the index, its links in
both directions, and in plain words why it is, or is not, in the index. Of a URL of a
crawl also the rules that decided on it, its last ten visits, and when the next one is
due, and why.

A URL that was never seen is no error: the answer says so. While another process
has the data directory, that process is asked.
` + momentHelp

func (a *app) inspectCommand() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "inspect [--at TIME] URL",
		Short: "Everything known of one URL, and why it is, or is not, in the index",
		Long:  long(inspectHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples(
			"indexer inspect https://lighthouse.example/",
			"indexer inspect --format json https://lighthouse.example/ | jq .reason",
			"indexer inspect --at 2h https://lighthouse.example/",
		),
		Args: exactly(1, "one URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := parseURL(args[0]); err != nil {
				return err
			}
			moment, err := momentArgument(at, time.Now())
			if err != nil {
				return err
			}
			return a.ask(cmd.Context(), a.request("inspect", append(args, moment...)...), a.stdout)
		},
	}
	momentFlag(cmd, &at)
	return cmd
}

func parseURL(raw string) (page.URL, error) {
	u, err := page.ParseURL(raw)
	switch {
	case err == nil:
		return u, nil
	case !strings.Contains(raw, "://"):
		return "", &inputError{what: raw, reason: "is no whole http or https URL; want one like https://example.com/"}
	}
	return "", &inputError{what: raw, reason: err.Error()}
}

func inspect(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	if len(req.Args) != 1 && len(req.Args) != 2 {
		return &usageError{reason: "inspect needs one URL"}
	}
	u, err := parseURL(req.Args[0])
	if err != nil {
		return err
	}
	moment, err := takeMoment(req.Args[1:])
	if err != nil {
		return err
	}
	var visits *frontier.Inspection
	i, err := r.InspectAt(ctx, u, moment, func(tx *txn.Txn) (err error) {
		if moment.IsNow() {
			visits, err = frontier.Inspect(ctx, r.DB(), u)
		} else {
			visits, err = frontier.InspectAt(ctx, tx, u)
		}
		return err
	})
	if err != nil {
		return err
	}
	if req.Format == "json" {
		return printJSON(stdout, struct {
			*repository.Inspection
			Crawl *frontier.Inspection `json:"crawl,omitempty"`
		}{i, visits})
	}
	_, err = io.WriteString(stdout, inspectionText(i)+visitsText(visits))
	return err
}

// visitsText tells what the crawl does with a URL, and why.
func visitsText(c *frontier.Inspection) string {
	if c == nil {
		return ""
	}
	t := new(table)
	if c.Rule == "" { // of the past
		t.row("crawl", c.State)
	} else {
		t.row("crawl", c.State+": "+c.Rule+", it "+c.Why)
	}
	allowed := "allowed"
	if !c.RobotsAllowed {
		allowed = "disallowed"
	}
	t.row("robots.txt", allowed+": "+c.Robots)
	t.optional("found in", c.Source)
	if c.Visits > 0 && c.Last != nil {
		t.row("visited", fmt.Sprintf("%s, last %s", count(c.Visits, "time"), c.Last.UTC().Format(time.RFC3339)))
	}
	list(t, "visits", c.History, visitText)
	if c.Next != nil {
		t.row("next visit", nextVisit(*c.Next, time.Now()))
	}
	t.optional("because", c.Note)
	return t.String()
}

// visitText is a visit on a line.
func visitText(v frontier.PastVisit) string {
	at := v.Time.UTC().Format(time.RFC3339)
	switch {
	case v.Status > 0:
		return fmt.Sprintf("%s  %d  %s, %d bytes in %d ms", at, v.Status, v.Effect, v.Bytes, v.Milliseconds)
	case v.Bytes == 0 && v.Milliseconds == 0:
		return at + "  " + v.Effect
	}
	return fmt.Sprintf("%s  no response  %s, %d ms", at, v.Effect, v.Milliseconds)
}

// nextVisit says when, and whether that is past.
func nextVisit(at, now time.Time) string {
	text := at.UTC().Format(time.RFC3339)
	if at.After(now) {
		return text + ", in " + at.Sub(now).Round(time.Second).String()
	}
	return text + ", due now"
}

// maxListed bounds the lists in texts for people; JSON has them whole.
const maxListed = 20

func inspectionText(i *repository.Inspection) string {
	t := new(table)
	t.row("url", string(i.URL))
	if i.AsOf != nil {
		t.row("as of", asOfText(i.AsOf))
	}
	if i.Indexed {
		t.row("in the index", "yes: "+i.Reason)
	} else {
		t.row("in the index", "no: "+i.Reason)
	}
	t.row("outcome", strings.TrimSpace(fmt.Sprintf("%s %s", i.Outcome, unlessZero(i.Status))))
	if i.FetchedAt != nil {
		t.row("fetched at", i.FetchedAt.UTC().Format(time.RFC3339))
	}
	t.optional("last failure", i.Failure)
	t.optional("title", i.Title)
	t.optional("language", i.Language)
	t.optional("leads to", string(i.LeadsTo))
	t.optional("terminal", string(i.Terminal))
	t.optional("canonical", string(i.Canonical))
	t.optional("content key", i.ContentKey)
	t.optional("cluster", i.Cluster)
	t.row("rank", fmt.Sprintf("%.4f", i.Rank))
	list(t, "members", i.Members, func(u page.URL) string { return string(u) })
	list(t, "links to", i.Outlinks, func(l repository.Outlink) string { return linkText(string(l.URL), l.Anchor) })
	list(t, "linked from", i.Inlinks, func(l observers.Inlink) string { return linkText(string(l.Source), l.Anchor) })
	if i.Pending > 0 {
		t.row("note", fmt.Sprintf("%d rows wait for observers: this may be about to change", i.Pending))
	}
	return t.String()
}

func asOfText(a *repository.AsOf) string {
	if a.Asked == nil {
		return fmt.Sprintf("timestamp %d", a.TS)
	}
	return fmt.Sprintf("%s, timestamp %d", a.Asked.UTC().Format(time.RFC3339), a.TS)
}

func linkText(url, anchor string) string {
	if anchor == "" {
		return url
	}
	return fmt.Sprintf("%s %q", url, anchor)
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
