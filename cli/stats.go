package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/repository"
)

const statsHelp = `
Count what the data directory holds: URLs by the result of their newest fetch, clusters
of duplicates, documents in the index, links. Then show the backlog: the rows that
wait for each observer and how long the oldest has waited. For pages that the running
process has loaded, also show how long it took until they could be searched.

If another process has the data directory open, the command runs in that process.`

func (a *app) statsCommand() *cobra.Command {
	var hosts bool
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Show counts, the backlog, and how fresh the index is",
		Long:    long(statsHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer stats", "indexer stats --format json | jq .backlog"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			req := a.request("stats")
			if hosts {
				req.Args = []string{"hosts"}
			}
			return a.ask(cmd.Context(), req, a.stdout)
		},
	}
	cmd.Flags().BoolVar(&hosts, "hosts", false, "show the URLs waiting to be crawled, by host")
	return cmd
}

func stats(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	if onlyArgument(req) == "hosts" {
		return statsOfHosts(ctx, r, req, stdout)
	}
	s, err := r.Stats(ctx)
	if err != nil {
		return err
	}
	return printResult(stdout, req.Format, s, statsText(s))
}

// statsOfHosts lists the hosts for which a crawl has work.
func statsOfHosts(ctx context.Context, r *repository.Repository, req control.Request, stdout io.Writer) error {
	list, err := frontier.HostQueues(ctx, r.DB())
	if err != nil {
		return err
	}
	return printLines(stdout, req.Format, list, hostsText(list))
}

func hostsText(list []frontier.HostQueue) string {
	if len(list) == 0 {
		return "Nothing waits to be crawled.\n"
	}
	t := new(table)
	for _, h := range list {
		line := fmt.Sprintf("%d new, %d to visit again", h.New, h.Revisits)
		if h.Beyond > 0 {
			line += fmt.Sprintf(" (%d of the new ones over the limit: %s visited)", h.Beyond, count(h.Pages, "page"))
		}
		if h.Next != nil {
			line += ", the first at " + h.Next.Format(time.RFC3339)
		}
		if h.BackingOff != nil {
			line += fmt.Sprintf("; backing off until %s: %s", h.BackingOff.Format(time.RFC3339), h.Why)
		}
		if len(h.Ignored) > 0 {
			line += "; parameters ignored: " + strings.Join(h.Ignored, ", ")
		}
		t.row(h.Host, line)
	}
	return t.String()
}

func statsText(s *repository.Stats) string {
	t := new(table)
	for _, c := range []struct {
		name string
		n    int
	}{
		{"urls", s.URLs}, {"pages", s.Pages}, {"redirects", s.Redirects}, {"gone", s.Gone}, {"failed", s.Failed},
		{"other", s.Other}, {"clusters", s.Clusters}, {"indexed", s.Indexed}, {"links", s.Links},
	} {
		t.row(c.name, fmt.Sprint(c.n))
	}
	if u := s.Unreadable; u.PDF+u.Office > 0 {
		t.row("unreadable", fmt.Sprintf("%s, %s; `indexer inspect URL` says why",
			count(int(u.PDF), "PDF document"), count(int(u.Office), "office document")))
	}
	t.row("ranks", rankText(&s.Ranks))
	backlogRows(t, s.Backlog, "")
	if totalRows(s.Backlog) > 0 {
		t.row("oldest waits", progress.Duration(fromMS(s.OldestNotificationMS)))
	}
	if s.Dead > 0 {
		t.row("given up on", count(int(s.Dead), "row"))
	}
	if l := s.FetchToSearchableMS; l.N > 0 {
		t.row("searchable in", fmt.Sprintf("%s (median; 95 %%: %s, 99 %%: %s; %s)",
			progress.Duration(fromMS(l.P50)), progress.Duration(fromMS(l.P95)), progress.Duration(fromMS(l.P99)), count(int(l.N), "page")))
	}
	return t.String()
}

// backlogRows adds the rows that wait, in total and for each observer. more qualifies the total.
func backlogRows(t *table, backlog map[string]int, more string) {
	t.row("waiting", count(totalRows(backlog), "row")+more)
	for _, observer := range slices.Sorted(maps.Keys(backlog)) {
		if n := backlog[observer]; n > 0 {
			t.row("  "+observer, fmt.Sprint(n))
		}
	}
}

func totalRows(backlog map[string]int) (total int) {
	for _, n := range backlog {
		total += n
	}
	return total
}

func fromMS(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
