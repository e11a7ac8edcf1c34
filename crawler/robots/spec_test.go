package robots

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/page"
)

// TestSpecs runs the specifications in testdata. Their commands are
//
//	robots [quoted]      sets the file, with Go escapes if quoted, and shows what
//	                     was found in it
//	allowed agent=NAME   decides on the URLs of the input, relative to
//	                     https://example.com
//	group agent=NAME     shows what the file says to an agent
//	fetch at=DURATION [status=N] [header=(Name,value)]... [url=URL] [err=TEXT] [revisit]
//	                     has Decide judge a fetch whose body is the input
//	new                  forgets the policy
func TestSpecs(t *testing.T) {
	datadriven.Walk(t, "testdata/spec", func(t *testing.T, path string) {
		s := &spec{file: Parse(nil)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "robots":
				return s.robots(t, d)
			case "allowed":
				return s.allowed(t, d)
			case "group":
				return s.group(t, d)
			case "fetch":
				return s.fetch(t, d)
			case "new":
				s.policy = Policy{}
				return ""
			default:
				t.Fatalf("unknown command %s", d.Cmd)
				return ""
			}
		})
	})
}

type spec struct {
	file   *File
	policy Policy
}

var specStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (s *spec) robots(t *testing.T, d *datadriven.TestData) string {
	body := d.Input
	if d.HasArg("quoted") {
		var err error
		if body, err = strconv.Unquote(`"` + strings.ReplaceAll(d.Input, "\n", "") + `"`); err != nil {
			t.Fatal(err)
		}
	}
	s.file = Parse([]byte(body))
	stats := s.file.Stats()
	out := fmt.Sprintf("%d lines, %d records, %d unknown, %d rules\n", stats.Lines, stats.Records, stats.Unknown, len(s.file.rules))
	for _, sitemap := range s.file.Sitemaps() {
		out += "sitemap " + sitemap + "\n"
	}
	return out
}

func (s *spec) agent(t *testing.T, d *datadriven.TestData) *Group {
	var agent string
	d.ScanArgs(t, "agent", &agent)
	return s.file.Group(agent)
}

func (s *spec) allowed(t *testing.T, d *datadriven.TestData) string {
	g := s.agent(t, d)
	var b strings.Builder
	for _, ref := range strings.Fields(d.Input) {
		u, err := page.ParseURL("https://example.com" + ref)
		if err != nil {
			t.Fatal(err)
		}
		ok, rule := g.Allowed(u)
		word := map[bool]string{true: "yes", false: "NO"}[ok]
		fmt.Fprintf(&b, "%-3s  %-30s  %v\n", word, ref, rule)
	}
	return b.String()
}

func (s *spec) group(t *testing.T, d *datadriven.TestData) string {
	g := s.agent(t, d)
	out := fmt.Sprintf("%d rules", len(g.rules))
	if g.Wildcard() {
		out += ", those for *"
	}
	if delay, ok := g.CrawlDelay(); ok {
		out += fmt.Sprintf(", crawl delay %v", delay)
	}
	return out
}

func (s *spec) fetch(t *testing.T, d *datadriven.TestData) string {
	var at string
	d.ScanArgs(t, "at", &at)
	after, err := time.ParseDuration(at)
	if err != nil {
		t.Fatal(err)
	}
	f := page.Fetch{
		URL: "https://example.com/robots.txt", Time: specStart.Add(after), Header: http.Header{},
		Body: []byte(d.Input), Revisit: d.HasArg("revisit"),
	}
	d.MaybeScanArgs(t, "status", &f.Status)
	var url string
	if d.MaybeScanArgs(t, "url", &url) {
		f.URL = page.MustParseURL(url)
	}
	d.MaybeScanArgs(t, "err", &f.Err)
	for _, arg := range d.CmdArgs {
		if arg.Key == "header" {
			f.Header.Add(arg.Vals[0], strings.Join(arg.Vals[1:], ", "))
		}
	}
	s.policy = Decide(s.policy, f)
	return s.describe(f)
}

func (s *spec) describe(f page.Fetch) string {
	p := s.policy
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s\n", p.Verdict, p.Why)
	if p.Verdict == Follow {
		return b.String()
	}
	fmt.Fprintf(&b, "until %v after the fetch", p.Until.Sub(f.Time))
	if p.Failures > 0 {
		fmt.Fprintf(&b, ", %d failures since %v", p.Failures, p.Since.Sub(specStart))
	}
	if p.Copy != nil {
		fmt.Fprintf(&b, ", copy of %v (%d bytes)", p.Copy.Time.Sub(specStart), len(p.Copy.Body))
	}
	b.WriteString("\n")
	for _, u := range []page.URL{"https://example.com/a", "https://example.com/private"} {
		ok, rule := p.Group("indexer").Allowed(u)
		fmt.Fprintf(&b, "%-8s %-5v %v\n", u.Path(), ok, rule)
	}
	return b.String()
}
