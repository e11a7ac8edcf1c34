package page

import (
	"fmt"
	"testing"
)

// knownEncodingMisses are the cases that differ from the Encoding standard: characters that few
// pages use in a query.
var knownEncodingMisses = map[string]string{
	"\x0eA":    "iso-2022-jp",
	"\u203e\\": "iso-2022-jp",
	"\ue5e5":   "gb18030",
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
	c.encodeQueries(nil, "text/html; charset="+label)
	u, err := URL("https://example.com/").Resolve(c.links[0].ref)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// TestQueryOfSingleBytes: a query has the bytes of the page, even those that a character set leaves
// open: pages in other character sets that do not say so are read as windows-1252.
func TestQueryOfSingleBytes(t *testing.T) {
	for _, label := range []string{"windows-1250", "windows-1252", "windows-1253", "windows-1255", "iso-8859-2", "iso-8859-8-i", "iso-8859-15", "windows-874", "koi8-r", "macintosh"} {
		for b := 0x80; b <= 0xff; b++ {
			c := string(decode([]byte{byte(b)}, "text/html; charset="+label, kindHTML))
			if want := fmt.Sprintf("x=%%%02X", b); c != "\uFFFD" && linkedQuery(t, label, "x="+c) != want {
				t.Errorf("%s: %s, want %s", label, linkedQuery(t, label, "x="+c), want)
			}
		}
	}
}

// TestQueryOfTwoBytes: of several codes of a character, the one that browsers send counts, and
// not what is only decoded.
func TestQueryOfTwoBytes(t *testing.T) {
	for _, c := range []struct{ label, query, want string }{
		{"big5", "香港十═", "%AD%BB%B4%E4%A4Q%F9%F9"},
		{"big5", "\u79d0", "%26%2331184%3B"},
		{"shift_jis", "髙﨑￢①ｱ", "%FB%FC%FA%B1%81%CA%87@%B1"},
		{"shift_jis", "¥‾−", `\~%81|`},
		{"euc-jp", "丂≒ｱ", "%26%2319970%3B%A2%E2%8E%B1"},
	} {
		if got := linkedQuery(t, c.label, c.query); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.query, c.label, got, c.want)
		}
	}
}
