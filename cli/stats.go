package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"indexer/control"
	"indexer/progress"
	"indexer/repository"
)

const statsHelp = `
Count what the repository holds: URLs by what their newest fetch said, clusters of
duplicates, documents in the index, links. Then what is left to do: rows waiting
for each observer, the oldest of them, and how long pages loaded by the process
that holds the data directory took until they could be found.

While another process has the data directory, that process is asked.`

func (a *app) statsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "stats",
		Short:   "Counts, what is left to do, and how fresh the index is",
		Long:    long(statsHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer stats", "indexer stats --format json | jq .backlog"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.ask(cmd.Context(), a.request("stats"), a.stdout)
		},
	}
}

func stats(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	s, err := r.Stats(ctx)
	if err != nil {
		return err
	}
	if req.Format == "json" {
		return printJSON(stdout, s)
	}
	_, err = io.WriteString(stdout, statsText(s))
	return err
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
	waiting := 0
	for _, n := range s.Backlog {
		waiting += n
	}
	t.row("waiting", count(waiting, "row"))
	for _, observer := range slices.Sorted(maps.Keys(s.Backlog)) {
		if n := s.Backlog[observer]; n > 0 {
			t.row("  "+observer, fmt.Sprint(n))
		}
	}
	if waiting > 0 {
		t.row("oldest waits", progress.Duration(fromMS(s.OldestNotificationMS)))
	}
	if s.Dead > 0 {
		t.row("given up on", count(int(s.Dead), "row"))
	}
	if l := s.FetchToSearchableMS; l.N > 0 {
		t.row("searchable in", fmt.Sprintf("%s (median; 95 %%: %s, 99 %%: %s; %d pages)",
			progress.Duration(fromMS(l.P50)), progress.Duration(fromMS(l.P95)), progress.Duration(fromMS(l.P99)), l.N))
	}
	return t.String()
}

func fromMS(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
