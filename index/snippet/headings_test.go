package snippet

import (
	"reflect"
	"testing"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
)

func TestHeadings(t *testing.T) {
	headings := []string{"Contents", "Trimming the lamp and the wick", "Wicks", "Oil", "The lamps' wicks", ""}
	for _, c := range []struct {
		title, query string
		want         []Heading
	}{
		{"The lamp", "lamp", nil},
		{"The lamp", "lamp wick", []Heading{{2, 1, true}, {4, 1, true}, {1, 1, true}}},
		{"Manual", "wick lamp", []Heading{{4, 2, true}, {1, 2, true}, {2, 1, false}}},
		{"Manual", "oil tank", []Heading{{3, 1, false}}},
		{"Manual", "the", []Heading{{4, 1, true}, {1, 1, true}}},
		{"Manual", "xylophone", nil},
		{"", "contents", []Heading{{0, 1, true}}},
	} {
		compiled, err := query.Compile(c.query, []*analysis.Stemmer{analysis.StemmerFor("en")}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := Headings(c.title, headings, NewMatcher(compiled.Terms, "en")); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q in a page titled %q: %v, want %v", c.query, c.title, got, c.want)
		}
	}
	if got := Headings("Manual", nil, NewMatcher(nil, "en")); got != nil {
		t.Errorf("no headings, no terms: %v", got)
	}
}
