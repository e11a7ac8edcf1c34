package web

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
)

// TestReadSearch: the query that the index gets for the parameters of a request.
func TestReadSearch(t *testing.T) {
	for _, tt := range []struct{ params, want string }{ // "": refused
		{"q=bread", "bread"},
		{"q=" + strings.Repeat("a", maxQuery), strings.Repeat("a", maxQuery)},
		{"q=" + strings.Repeat("a", maxQuery+1), ""},
		{"q=bread%E2%80%AErehto%00salt", "breadrehto salt"}, // no direction of writing, no control characters
		{"q=bread&site=HTTPS://A.example/x", "bread site:a.example"},
		{"q=bread&site=a.example+b", ""},
		{"q=bread&lang=PT-br&type=TXT", "bread lang:pt-br filetype:txt"},
		{"q=bread&lang=p", ""},
		{"q=bread&year=2024", "bread after:2024 before:2025"},
		{"q=bread&year=24", ""},
		{"q=bread&type=txt+x", ""},
		{"q=bread&type=abcdefghi", ""},
		{"q=bread+OR&site=a.example", "bread OR - site:a.example"}, // the site is no side of OR
		{"q=bread&sort=size", ""},
		{"q=bread&reader=1", ""},
	} {
		v, err := url.ParseQuery(tt.params)
		if err != nil {
			t.Fatal(err)
		}
		p, err := readSearch(v)
		if got := p.query(); err == nil && got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v; want %q", tt.params, got, err, tt.want)
		}
	}
}

// TestSearchLinks: a link has all parameters of the search.
func TestSearchLinks(t *testing.T) {
	p := searchParams{Words: "bread", Site: "a.example", Lang: "en", Year: "2024", Type: "txt", Sort: "date", Reader: "de", Explain: true, Verbatim: true}
	v := reflect.ValueOf(p)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the test does not set %s", v.Type().Field(i).Name)
		}
	}
	if got, err := readSearch(p.values()); err != nil || got != p {
		t.Errorf("%+v, %v", got, err)
	}
	for _, one := range []searchParams{{Site: "a.example"}, {Lang: "en"}, {Year: "2024"}, {Type: "txt"}} {
		if !one.filtered() {
			t.Errorf("%+v is not filtered", one)
		}
	}
}

func TestSearchOptions(t *testing.T) {
	usual := search.Options{PerHost: 2, Language: "en"}
	for _, tt := range []struct {
		asked searchParams
		want  search.Options
	}{
		{searchParams{}, search.Options{Limit: 10, Offset: 20, PerHost: 2, Language: "en"}},
		{searchParams{Site: "a.example"}, search.Options{Limit: 10, Offset: 20, Language: "en"}},
		{searchParams{Reader: "any", Sort: "date"}, search.Options{Limit: 10, Offset: 20, PerHost: 2, Sort: search.ByDate}},
		{searchParams{Reader: "de", Verbatim: true, Explain: true}, search.Options{Limit: 10, Offset: 20, PerHost: 2, Language: "de", Verbatim: true, Explain: true}},
	} {
		if got := tt.asked.options(usual, 10, 20); got != tt.want {
			t.Errorf("%+v: %+v, want %+v", tt.asked, got, tt.want)
		}
	}
}

// TestReworded: the filters of a search stay filters, unless the suggestion changed them.
func TestReworded(t *testing.T) {
	p := searchParams{Words: "bred", Site: "a.example", Lang: "en", Year: "2024", Type: "txt", Verbatim: true}
	want := p
	want.Words, want.Verbatim = "bread", false
	if got := p.reworded("bread site:a.example lang:en after:2024 before:2025 filetype:txt"); got != want {
		t.Errorf("%+v", got)
	}
	if got, want := p.reworded("bread site:b.example"), (searchParams{Words: "bread site:b.example"}); got != want {
		t.Errorf("other filters: %+v", got)
	}
}
