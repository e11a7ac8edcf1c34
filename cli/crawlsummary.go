package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/frontier"
)

// crawlSummary is the result of a crawl: the JSON of `crawl --format json`.
type crawlSummary struct {
	crawler.Status
	// OutOfScope counts the links to URLs out of scope, by rule. A URL counts each time it
	// is found.
	OutOfScope map[string]int64 `json:"out_of_scope,omitempty"`
	// Again is the result for each URL of --again.
	Again     []frontier.Outcome `json:"again,omitempty"`
	Documents int                `json:"documents"`
	Backlog   int                `json:"backlog"` // rows left for observers
	Seconds   float64            `json:"seconds"`
	Data      string             `json:"data"`
	// Others says that other processes continue the crawl.
	Others bool `json:"others,omitempty"`

	// Incomplete says that, after an interrupt, not everything could be counted.
	Incomplete bool `json:"incomplete,omitempty"`

	alone  []crawler.HostStatus // what is due there has to wait
	search string               // how to search what was loaded
	place  string               // of the index
	shared bool                 // others may continue the crawl
}

// maxLeftAlone is how many hosts that are left alone a summary lists.
const maxLeftAlone = 20

func (s *session) printCrawl(c *crawler.Crawler, took time.Duration, others, interrupted bool) error {
	sum := crawlSummary{
		Status: c.Status(0), Seconds: took.Seconds(), Data: s.app.cfg.Data, Others: others,
		search: s.app.suggestSearch(), place: s.app.indexPlace(), shared: s.isDivided(),
		alone: c.LeftAlone(maxLeftAlone),
	}
	left, err := s.countCrawl(&sum, interrupted)
	if err != nil && !interrupted {
		return err
	}
	if err != nil {
		err, sum.Incomplete = incomplete(err), true
	}
	err = errors.Join(printResult(s.app.stdout, s.app.cfg.Format, &sum, sum.text()), err)
	if len(left) > 0 || sum.Incomplete {
		return errors.Join(err, left.err()) // interrupted: an empty result does not mean that nothing can be fetched
	}
	return errors.Join(err, sum.nothingFetched())
}

// countCrawl adds to the summary of a crawl what has to be counted, and returns what is left of
// an interrupted one.
func (s *session) countCrawl(sum *crawlSummary, interrupted bool) (left left, err error) {
	if rules := s.crawl.Rules(); rules != nil {
		sum.OutOfScope = rules.Counts()
		maps.DeleteFunc(sum.OutOfScope, func(_ string, n int64) bool { return n == 0 })
	}
	ctx, cancel := s.countContext(interrupted)
	defer cancel()
	if sum.Backlog, err = s.rowsLeft(ctx); err != nil {
		return left, err
	}
	if interrupted {
		if left, err = s.leftOfCrawl(ctx, sum.Ended, sum.Backlog); err != nil {
			return left, err
		}
	}
	if sum.Documents, err = s.app.countDocuments(ctx, s.repo); err != nil {
		return left, err
	}
	sum.Again, err = frontier.Outcomes(ctx, s.repo.DB(), s.asked, sum.Started)
	return left, err
}

// leftOfCrawl returns what an interrupted crawl has left to do, with the rows that wait for
// observers. A crawl that had reached a limit, or had nothing due, was only waiting for these.
func (s *session) leftOfCrawl(ctx context.Context, ended string, rows int) (left, error) {
	var left left
	if ended == crawler.EndedByContext {
		fresh, due, err := frontier.CountDue(ctx, s.repo.DB(), time.Now())
		if err != nil {
			return nil, err
		}
		left.add(fresh, count(fresh, "URL")+" to fetch")
		left.add(due, count(due, "page")+" to visit again")
	}
	left.backlog(rows)
	return left, nil
}

// errNothingFetched says that every request of a crawl failed.
var errNothingFetched = errors.New("nothing could be fetched")

// errPrivateSeeds says that every request was refused because of its address.
var errPrivateSeeds = fmt.Errorf("%w: the seeds have private or loopback addresses; --allow-private permits crawling them", errNothingFetched)

// nothingFetched returns an error if the crawl made requests and got no response.
func (s *crawlSummary) nothingFetched() error {
	if len(s.Statuses) > 0 || len(s.Failures) == 0 {
		return nil
	}
	why := slices.Sorted(maps.Keys(s.Failures))
	refused := slices.Contains(why, fetch.RefusedAddress.String())
	if refused && len(why) == 1 {
		return errPrivateSeeds
	}
	if len(s.Unreached) > 0 {
		hosts := s.unreached()
		if refused {
			hosts = append(hosts, "--allow-private permits crawling private and loopback addresses")
		}
		return fmt.Errorf("%w: %s", errNothingFetched, strings.Join(hosts, "; "))
	}
	return fmt.Errorf("%w: %s; see `indexer stats --hosts`", errNothingFetched, strings.Join(why, ", "))
}

// unreached lists the hosts that did not answer, with reasons.
func (s *crawlSummary) unreached() (list []string) {
	for _, u := range s.Unreached {
		list = append(list, fmt.Sprintf("%s (%s; %s)", u.Host, u.Why, count(u.Attempts, "attempt")))
	}
	if more := s.UnreachedTotal - len(list); more > 0 {
		list = append(list, "and "+count(more, "other host"))
	}
	return list
}

func (s *crawlSummary) text() string {
	var b strings.Builder
	because := s.Ended
	if because == crawler.EndedByContext {
		because = "it was interrupted"
	}
	fmt.Fprintf(&b, "Fetched %s (%s, %s) in %.1fs. It ended because %s.\n", count(int(s.Pages), "page"), count(int(s.Requests), "request"), megabytes(s.Bytes), s.Seconds, because)
	statuses := make(map[string]int64, len(s.Statuses))
	for code, n := range s.Statuses {
		statuses["HTTP "+strconv.Itoa(code)] = n
	}
	countsText(&b, "responses", statuses)
	countsText(&b, "failed", s.Failures)
	countsText(&b, "refused", s.Refused)
	countsText(&b, "not taken", s.OutOfScope)
	if list := s.unreached(); len(list) > 0 {
		fmt.Fprintf(&b, "  not reached: %s\n", strings.Join(list, "\n    "))
	}
	if s.Ended == crawler.EndedIdle {
		for _, h := range s.alone {
			fmt.Fprintf(&b, "  left alone until %s: %s (%s)\n", h.Until.UTC().Format(time.RFC3339), h.Host, h.Why)
		}
	}
	for _, came := range s.Again {
		if came.Visit == nil {
			fmt.Fprintf(&b, "  %s was not visited: %s\n", came.URL, came.Why)
		} else {
			fmt.Fprintf(&b, "  %s: %s\n", came.URL, visitText(*came.Visit))
		}
	}
	switch {
	case s.Others && s.Backlog > 0:
		fmt.Fprintf(&b, "  Other processes continue the crawl. Observers still have %s to process, so not every page may be in the index yet.\n", count(s.Backlog, "row"))
	case s.Others:
		b.WriteString("  Other processes continue the crawl.\n")
	case s.Backlog > 0 && s.shared:
		fmt.Fprintf(&b, "  Observers still have %s to process; they continue wherever `indexer worker` runs.\n", count(s.Backlog, "row"))
	case s.Backlog > 0:
		fmt.Fprintf(&b, "  Observers still have %s to process; they continue when the directory is next opened.\n", count(s.Backlog, "row"))
	}
	if s.Incomplete {
		return b.String()
	}
	fmt.Fprintf(&b, "%s has %s.\n", s.place, count(s.Documents, "document"))
	if s.Documents > 0 {
		b.WriteString(s.search)
	}
	return b.String()
}

func countsText(b *strings.Builder, what string, m map[string]int64) {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", m[k], k))
		}
	}
	if len(parts) == 0 {
		return
	}
	fmt.Fprintf(b, "  %s: %s\n", what, strings.Join(parts, ", "))
}
