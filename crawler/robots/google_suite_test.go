package robots

import "testing"

// googleDialects are the cases of Google's suite that RFC 9309 decides otherwise.
var googleDialects = []dialectCase{
	{
		test: "ID_Encoding", url: "http://foo.bar/foo/bar/ツ", want: 2, opts: Options{Verbatim: true},
		why: "the URL's non-ASCII octets are expected not to match their encoded form, as the caller of that " +
			"parser has to encode URLs; section 2.2.2 encodes both sides before the comparison",
	},
	{
		test: "ID_Encoding", url: "http://foo.bar/foo/bar/baz", want: 1, opts: Options{Verbatim: true},
		why: "the rule /foo/bar/%62%61%7A is expected not to match; in the fifth example of section 2.2.2 it does",
	},
	{
		test: "GoogleOnly_IndexHTMLisDirectory", want: 1, opts: Options{IndexIsDirectory: true},
		why: "an allow rule for index.html is expected to allow the directory; the RFC has no such rule",
	},
	{
		test: "GoogleOnly_LineTooLong", want: 2, opts: Options{MaxLineBytes: 16663},
		why: "rules are cut with the line after 16663 octets and then match more; the RFC knows no longest line",
	},
}

type googleSuite struct {
	Match []suiteMatch
	Parse []struct {
		Test     string
		Robots   string
		Base64   string `json:"robots_base64"`
		Valid    *int   `json:"valid_directives"`
		Unknown  *int   `json:"unknown_directives"`
		LastLine *int   `json:"last_line"`
		Sitemap  *string
	}
	Path []struct{ URL, Path string } `json:"path_of_url"`
	// Escape has the form in which rules are compared.
	Escape []struct{ Pattern, Escaped string } `json:"escape_pattern"`
}

func TestGoogleSuite(t *testing.T) {
	var suite googleSuite
	loadSuite(t, "google_robots.json", &suite)
	if len(suite.Match) != 145 || len(suite.Parse) != 12 || len(suite.Path) != 19 || len(suite.Escape) != 4 {
		t.Fatal("the suite is not the one the test was written for")
	}
	t.Run("match", func(t *testing.T) {
		names := func(c suiteMatch) []string { return []string{c.Agent} }
		runMatches(t, suite.Match, names, googleDialects)
	})
	t.Run("parse", func(t *testing.T) { testGoogleParse(t, suite) })
	t.Run("path", func(t *testing.T) {
		for _, c := range suite.Path {
			if got := pathQuery(c.URL); got != c.Path {
				t.Errorf("pathQuery(%q) = %q, want %q", c.URL, got, c.Path)
			}
		}
	})
	t.Run("escape", func(t *testing.T) {
		for _, c := range suite.Escape {
			for _, escape := range []func(string) string{canonical, escapeVerbatim} {
				if got := escape(c.Pattern); got != c.Escaped {
					t.Errorf("rule %q is compared as %q, want %q", c.Pattern, got, c.Escaped)
				}
			}
		}
	})
}

func testGoogleParse(t *testing.T, suite googleSuite) {
	check := func(what string, body []byte, got int, want *int) {
		if want != nil && got != *want {
			t.Errorf("%q: %d %s, want %d", body, got, what, *want)
		}
	}
	for _, c := range suite.Parse {
		body := suiteBody(t, c.Robots, c.Base64)
		file := Parse(body)
		check("records", body, file.Stats().Records, c.Valid)
		check("unknown records", body, file.Stats().Unknown, c.Unknown)
		check("lines", body, file.Stats().Lines, c.LastLine)
		if c.Sitemap != nil && (len(file.Sitemaps()) != 1 || file.Sitemaps()[0] != *c.Sitemap) {
			t.Errorf("%q: sitemaps %q, want %q", body, file.Sitemaps(), *c.Sitemap)
		}
	}
}
