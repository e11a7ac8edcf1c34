package robots

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// commonsDialects are the cases of crawler-commons' suite that RFC 9309 decides
// otherwise.
var commonsDialects = []dialectCase{
	{test: "testMixedEndings1", want: 2, opts: Options{Agents: AgentPrefix}, why: draftNames},
	{test: "testRfpCases", want: 15, opts: Options{Agents: AgentPrefix}, why: draftNames},
	{test: "testBrokenKrugleRobotsTxtFile", want: 1, opts: Options{Agents: AgentPrefix}, why: draftNames},
	{test: "testNutchCases", want: 1, opts: Options{Agents: AgentPrefix}, why: draftList},
	{test: "testNutchCases2", want: 4, opts: Options{Agents: AgentPrefix}, why: draftList},
	{test: "testMultiAgentNames", want: 1, opts: Options{Agents: AgentPrefix}, why: draftList},
	{test: "testSpacesInMultipleUserAgentNames", want: 2, opts: Options{Agents: AgentPrefix}, why: draftList},
	{
		test: "testMatchingUserAgentNamesHttpHeader", want: 1, opts: Options{Agents: AgentFullValue},
		agent: "mozilla/5.0 (compatible; butterfly/1.0; +http://labs.topsy.com/butterfly/) gecko/2009032608 firefox/3.0.8",
		why:   "the crawler's name is a whole User-Agent header field; the RFC compares product tokens",
	},
	{
		test: "testMatchingUserAgentNamesHttpHeader", want: 1, opts: Options{Agents: AgentPrefix},
		agent: "butterfly/1.0;", why: draftNames,
	},
	{
		test: "testHtmlMarkupInRobotsTxt", want: 1, opts: Options{HTML: true},
		why: "tags are expected to be removed; to the RFC they are part of the values",
	},
	{
		test: "testBigCrawlDelay", want: 1, opts: Options{DisallowAboveDelay: 300 * time.Second},
		why: "Crawl-delay, which the RFC does not have, is expected to disallow everything above 300 s",
	},
	{
		test: "testPrecedenceOfRules", want: 1, opts: Options{IndexIsDirectory: true},
		why: "Allow: /index.html is expected to allow /, against the longer Disallow: /*",
	},
}

const (
	draftNames = "the crawler is called by its name and version; a product token has no version (section 2.2.1)"
	draftList  = "the user-agent line names several crawlers; section 2.2.1 has one product token in a line"
)

// commonsOtherDialects are the same for crawl delays, sitemaps and so on.
var commonsOtherDialects = []dialectCase{
	{
		test: "testHtmlMarkupInRobotsTxt", want: 2, opts: Options{HTML: true},
		why: "tags are expected to be removed; to the RFC they are part of the values",
	},
	{test: "testBrokenKrugleRobotsTxtFile", want: 1, opts: Options{Agents: AgentPrefix}, why: draftNames},
	{
		test: "testSitemap", want: 1, opts: Options{BareSitemaps: true},
		why: "a line that is only a URL is expected to be a sitemap; to the RFC it is a record called http",
	},
}

type commonsSuite struct {
	Match []suiteMatch
	Other []commonsOther
}

type commonsOther struct {
	suiteMatch
	Delay    *int `json:"crawl_delay_ms"` // null is none
	Sitemaps []string
	Count    *int    `json:"sitemap_count"`
	First    *string `json:"sitemap_0"`
	Wildcard *bool   `json:"matched_wildcard"`
}

// commonsNames are the names of a case. The method that most of the tests call
// takes them in one string, between commas or blanks.
func commonsNames(c suiteMatch) []string {
	if len(c.Agents) != 1 {
		return c.Agents
	}
	return strings.FieldsFunc(c.Agents[0], func(r rune) bool { return r == ',' || r == ' ' })
}

func TestCrawlerCommonsSuite(t *testing.T) {
	var suite commonsSuite
	loadSuite(t, "crawlercommons_robots.json", &suite)
	if len(suite.Match) != 430 || len(suite.Other) != 31 {
		t.Fatal("the suite is not the one the test was written for")
	}
	t.Run("match", func(t *testing.T) { runMatches(t, suite.Match, commonsNames, commonsDialects) })
	t.Run("other", func(t *testing.T) { testCommonsOther(t, suite) })
}

func testCommonsOther(t *testing.T, suite commonsSuite) {
	found := make([]int, len(commonsOtherDialects))
	for i, c := range suite.Other {
		why := c.check(Options{}.Parse(c.body(t)))
		if why == "" {
			continue
		}
		d := dialectOf(c.suiteMatch, commonsOtherDialects)
		if d < 0 {
			t.Errorf("other %d, %s: %s", i, c.Test, why)
			continue
		}
		found[d]++
		if why = c.check(commonsOtherDialects[d].opts.Parse(c.body(t))); why != "" {
			t.Errorf("other %d, %s: %s even with the dialect", i, c.Test, why)
		}
	}
	checkCounts(t, commonsOtherDialects, found)
}

// check says what differs from the suite. A case that asks for nothing else asks
// for the crawl delay.
func (c commonsOther) check(file *File) string {
	group := file.Group(commonsNames(c.suiteMatch)...)
	sitemaps := file.Sitemaps()
	switch {
	case c.Wildcard != nil:
		if group.Wildcard() != *c.Wildcard {
			return fmt.Sprintf("wildcard %v", group.Wildcard())
		}
	case c.Count != nil:
		if len(sitemaps) != *c.Count {
			return fmt.Sprintf("sitemaps %q, want %d", sitemaps, *c.Count)
		}
	case c.First != nil:
		if len(sitemaps) == 0 || sitemaps[0] != *c.First {
			return fmt.Sprintf("sitemaps %q, want %q first", sitemaps, *c.First)
		}
	case c.Sitemaps != nil:
		if !slices.Equal(sitemaps, c.Sitemaps) {
			return fmt.Sprintf("sitemaps %q, want %q", sitemaps, c.Sitemaps)
		}
	default:
		delay, asked := group.CrawlDelay()
		if asked != (c.Delay != nil) || asked && delay != time.Duration(*c.Delay)*time.Millisecond {
			return fmt.Sprintf("crawl delay %v, %v", delay, asked)
		}
	}
	return ""
}
