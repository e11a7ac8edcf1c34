package frontier

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/crawler/scope"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// maxSources is how many pages that lead to a URL are examined to say how the crawl
// could have found it.
const maxSources = 1000

// sources are the ways in which the crawl could have found a URL.
type sources struct {
	first  page.URL // one of them, "" if there is none
	depth  int      // the least
	beyond page.URL // a redirect too many in a row to be followed
	needed page.URL // a page that asked for it when it was rendered
}

// findSources looks for what leads to u: links, redirects and canonical links. It does
// not know frames: they are not stored at their targets.
func findSources(ctx context.Context, tx *txn.Txn, u page.URL) (s sources, err error) {
	for _, group := range []string{schema.GroupPointer, schema.GroupLink} {
		n := 0
		err := tx.ScanPrefix(ctx, group, schema.PairPrefix(u), func(row string, _ []txn.Version) error {
			if n++; n > maxSources {
				return txn.ErrStop
			}
			_, from, err := schema.ParsePairRow(row)
			if err != nil || from.IsRobotsTxt() {
				return err // its redirect target holds rules, not a page
			}
			return s.add(ctx, tx, from, group == schema.GroupPointer)
		})
		if err != nil {
			return s, fmt.Errorf("frontier: what leads to %s: %w", u, err)
		}
	}
	s.needed, err = neededBy(ctx, tx, u)
	return s, err
}

// add notes the depth and hops that discover would give to a target of from.
func (s *sources) add(ctx context.Context, tx *txn.Txn, from page.URL, lead bool) error {
	e, _, err := ReadEntry(ctx, tx, from)
	if err != nil {
		return err
	}
	depth := e.Depth + 1
	if lead {
		v, err := tx.Get(ctx, schema.URLRow(from), schema.State)
		if err != nil || !v.Exists {
			return err
		}
		state, err := schema.DecodeURLState(v.Data)
		if err != nil {
			return err
		}
		if state.Outcome == page.Redirect {
			if e.Hops >= MaxHops {
				s.beyond = from
				return nil
			}
			depth = e.Depth
		}
	}
	if s.first == "" || depth < s.depth {
		s.first, s.depth = from, depth
	}
	return nil
}

// whyUnknown says why a URL is not in the frontier.
func (s *sources) whyUnknown(d scope.Decision) string {
	switch {
	case s.needed != "" && s.first == "":
		return fmt.Sprintf("%s asked for it when it was rendered; it is about to be queued, or --exclude, a trap rule or the limit of %d resources of a host keeps it out", s.needed, maxResourcesPerHost)
	case !d.OK && d.Instead != "":
		return fmt.Sprintf("it %s; the crawl takes %s instead", d.Why, d.Instead)
	case !d.OK:
		return "it " + d.Why
	case s.first != "":
		return fmt.Sprintf("%s leads to it, and it is about to be queued: `indexer wait` waits for that", s.first)
	case s.beyond != "":
		return fmt.Sprintf("%s redirects to it after %d redirects in a row, and no more are followed", s.beyond, MaxHops)
	}
	return "nothing that was fetched leads to it: no link that counts (without nofollow, not made by a script), no redirect, no sitemap or feed"
}

// whyWaiting says why a URL in the queue was not fetched yet.
func (i *Inspection) whyWaiting(h *crawler.HostState, now time.Time) string {
	switch {
	case h.Robots.Verdict == robots.DisallowAll && strings.Contains(h.Robots.Why, fetch.RefusedAddress.String()):
		return fmt.Sprintf("its host is at an address of a private network, from which nothing is fetched without --allow-private (%s)", h.Robots.Why)
	case h.Robots.Verdict == robots.DisallowAll:
		return "robots.txt of its host could not be fetched, and nothing is fetched without it: " + h.Robots.Why + "; " + askedAgain(h, now)
	case i.leftAlone != "":
		return i.leftAlone
	case !i.RobotsAllowed:
		return "robots.txt disallows it: " + i.Robots
	}
	return "the crawl has not come to it: it is under way, or was ended by a limit or an interrupt; the same command continues it"
}

// whyLeftAlone says why, and until when, a host is left alone; "" if it is not.
func whyLeftAlone(h *crawler.HostState, now time.Time) string {
	_, why := h.LeftAlone(now)
	if why == "" {
		return ""
	}
	return "its host is left alone: " + why + "; " + askedAgain(h, now)
}

// askedAgain says when a host is asked again. The next run respects only what the host itself
// asked for.
func askedAgain(h *crawler.HostState, now time.Time) string {
	until, why := h.LeftAlone(now)
	switch {
	case h.AskedUntil.After(now):
		return fmt.Sprintf("it is asked again from %s on", h.AskedUntil.UTC().Format(time.RFC3339))
	case why != "":
		return fmt.Sprintf("it is asked again from %s on, or by the next run", until.UTC().Format(time.RFC3339))
	}
	return "the next run asks again"
}

// explain sets NotFetched, and completes Note if the host keeps the URL waiting.
func (i *Inspection) explain(e schema.FrontierEntry, d scope.Decision, s sources, h *crawler.HostState, now time.Time) {
	if i.leftAlone = whyLeftAlone(h, now); i.leftAlone != "" && i.Next != nil && !i.Next.After(now) {
		i.Note += "; " + i.leftAlone
	}
	switch {
	case i.State == unknownState, d.Rule == ParameterRule:
		i.NotFetched = s.whyUnknown(d)
	case i.State == schema.EntryRefused.String():
		i.NotFetched = e.Note
	case e.Visits == 0:
		i.NotFetched = i.whyWaiting(h, now)
	case e.Visits == e.Strikes && len(e.History) > 0 && !e.Asked:
		if last := e.History[len(e.History)-1].Effect; last == schema.VisitFailed || last == schema.VisitSetAside {
			i.NotFetched = "it was visited, and nothing came of it: " + e.Note
		}
	}
}
