package page

import "testing"

// knownEncodingMisses are the cases where the encoders of x/text differ from the Encoding
// standard: characters that few pages use in a query.
var knownEncodingMisses = map[string]string{
	"\x0eA":    "iso-2022-jp",
	"\u203e\\": "iso-2022-jp",
	"\ue5e5":   "gb18030",
	"\u2212":   "shift_jis",
}

// TestPercentEncodingSuite runs the web platform tests of queries in the character set of the
// document.
func TestPercentEncodingSuite(t *testing.T) {
	type encodingCase struct {
		Input  string
		Output map[string]string
	}
	for _, c := range suiteCases[encodingCase](t, "percent-encoding.json") {
		for label, want := range c.Output {
			got := linkedQuery(t, label, c.Input)
			if (got == want) == (knownEncodingMisses[c.Input] == label) {
				t.Errorf("%+q in %s: %q, want %q; known misses: %+q", c.Input, label, got, want, knownEncodingMisses)
			}
		}
	}
}

// linkedQuery returns the query of a link with that query on a page with that character set.
func linkedQuery(t *testing.T, label, query string) string {
	t.Helper()
	c := content{links: []rawLink{{ref: "/?" + query}}}
	c.encodeQueries(func() string { return label })
	u, err := URL("https://example.com/").Resolve(c.links[0].ref)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}
