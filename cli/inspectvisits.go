package cli

import (
	"fmt"
	"time"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/humanize"
)

// visitsText says what the crawl does with a URL, and why.
func visitsText(c *frontier.Inspection) string {
	if c == nil {
		return ""
	}
	t := new(table)
	t.row("crawl", c.State)
	if rule := c.Rule + ": it " + c.Why; c.Rule != "" && rule != c.NotFetched { // now, not in an earlier state
		t.row("rule", rule)
	}
	t.optional("not fetched", c.NotFetched)
	switch {
	case c.RobotsUnknown:
		t.row("robots.txt", c.Robots)
	case c.RobotsAllowed:
		t.row("robots.txt", "allowed: "+c.Robots)
	default:
		t.row("robots.txt", "disallowed: "+c.Robots)
	}
	t.optional("found in", c.Source)
	if c.Visits > 0 && c.Last != nil {
		t.row("visited", fmt.Sprintf("%s, last %s", count(c.Visits, "time"), c.Last.UTC().Format(time.RFC3339)))
	}
	list(t, "visits", c.History, visitText)
	if c.Next != nil {
		t.row("next visit", nextVisit(*c.Next, time.Now()))
	}
	if c.Note != c.NotFetched {
		t.optional("because", c.Note)
	}
	return t.String()
}

// visitText formats a visit on one line.
func visitText(v frontier.PastVisit) string {
	at := v.Time.UTC().Format(time.RFC3339)
	switch {
	case v.Status > 0:
		return fmt.Sprintf("%s  %d  %s, %s in %d ms", at, v.Status, v.Effect, humanize.Count(v.Bytes, "byte"), v.Milliseconds)
	case v.Bytes == 0 && v.Milliseconds == 0:
		return at + "  " + v.Effect
	}
	return fmt.Sprintf("%s  no response  %s, %d ms", at, v.Effect, v.Milliseconds)
}

// nextVisit says when the next visit is, and whether it is due.
func nextVisit(at, now time.Time) string {
	text := at.UTC().Format(time.RFC3339)
	if at.After(now) {
		return text + ", in " + at.Sub(now).Round(time.Second).String()
	}
	return text + ", due now"
}
