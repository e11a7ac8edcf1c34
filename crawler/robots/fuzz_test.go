package robots

import (
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

// FuzzParse: any file can be parsed under any dialect, what comes out is within
// what went in, and any URL can be decided on.
func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\r\nDisallow: /a*b$\nCrawl-delay: 1.5\nSitemap: /x"), "indexer", "/ab")
	f.Add([]byte("\xff\xfeU\x00s\x00"), "", "")
	f.Add([]byte("<html>user agent *\ndisallow /%2A%\r\rhttp://x/sitemap.xml"), "*", "http://x/%2a?%2f#y")
	f.Add([]byte("User-agent: a\nUser-agent: b, c\nAllow: /index.html\nAllow:\nUser-agent: a"), "c", "//;?")
	dialects := []Options{
		{},
		{Verbatim: true, IndexIsDirectory: true, MaxLineBytes: 10, Agents: AgentPrefix},
		{HTML: true, BareSitemaps: true, DisallowAboveDelay: 1, Agents: AgentFullValue},
	}
	f.Fuzz(func(t *testing.T, body []byte, agent, url string) {
		for _, o := range dialects {
			file := o.Parse(body)
			stats := file.Stats()
			if stats.Records+stats.Unknown > stats.Lines || stats.Lines > len(body) || len(file.rules) > stats.Records {
				t.Errorf("impossible statistics %+v, %d rules, %d bytes", stats, len(file.rules), len(body))
			}
			group := file.Group(agent)
			allowed, rule := group.Allowed(page.URL(url))
			if allowed != rule.Allow || rule.Text == "" || rule.Line < 0 || rule.Line > stats.Lines {
				t.Errorf("allowed %v by %+v of %d lines", allowed, rule, stats.Lines)
			}
			if delay, ok := group.CrawlDelay(); delay < 0 || !ok && delay != 0 {
				t.Errorf("crawl delay %v, %v", delay, ok)
			}
		}
	})
}

// FuzzAllowed: the index decides as the reference does.
func FuzzAllowed(f *testing.F) {
	f.Add("0/a*b$\n1/a", "axb")
	f.Add("1/*%2F\n0/?%2F", "?x=/%2f")
	f.Add("0*\n1/\xff%", "\xff%41")
	f.Fuzz(func(t *testing.T, rules, path string) {
		if len(rules) > 2000 || len(path) > 2000 {
			return // the reference is slow
		}
		checkAgainstReference(t, rules, path)
	})
}

// FuzzCanonical: the canonical form is canonical, and what escapes an octet does
// not change it.
func FuzzCanonical(f *testing.F) {
	f.Add("/a%2fb%zz ツ%7E%")
	f.Fuzz(func(t *testing.T, s string) {
		once := canonical(s)
		if twice := canonical(once); twice != once && !strings.Contains(s, "%") {
			t.Errorf("%q becomes %q, then %q", s, once, twice)
		}
		if want := refNormalise(s); once != want {
			t.Errorf("%q becomes %q, want %q", s, once, want)
		}
	})
}
