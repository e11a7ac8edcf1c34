package query

import (
	"testing"
)

// TestNarrow: what is added holds for the whole query, however that ends.
func TestNarrow(t *testing.T) {
	for query, want := range map[string]string{
		"a":                   "a site:x.org",
		"":                    "site:x.org",
		"a OR":                "a OR - site:x.org",
		"(a OR b":             "(a OR b ) site:x.org",
		"a OR (b OR":          "a OR (b OR -) site:x.org",
		"a OR (f(":            "a OR (f( ) site:x.org",
		"a OR intitle:(b (c":  "a OR intitle:(b (c )) site:x.org",
		`a OR (b "c`:          `a OR (b "c ) site:x.org`,
		"a)":                  "a) site:x.org",
		"a OR ((((((((((b OR": "a OR ((((((((((b OR ))-)))))))) site:x.org",
	} {
		got := Narrow(query, "site:x.org")
		if want != "" && got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		s, err := parseQuery(got)
		if err != nil {
			t.Errorf("%s: %v", got, err)
			continue
		}
		if last := s.clauses[len(s.clauses)-1]; last.kind != clauseSite || last.text != "x.org" || s.unended != "" {
			t.Errorf("%s: the last clause is %+v, open is %q", got, last, s.unended)
		}
	}
}
