package web

import (
	"fmt"
	"net/url"
	"testing"
)

// TestPager: the links of each page of a list.
func TestPager(t *testing.T) {
	for _, tt := range []struct {
		number, total int
		want          string // first and last entry, previous page, numbers, next page
	}{
		{1, 0, "0-0 [] []"},
		{1, 1, "1-1 [] [1]"},
		{1, 10, "1-10 [] [1]"},
		{1, 11, "1-10 [] [1 2] ?p=2&q=a"},
		{2, 11, "11-11 [?q=a] [1 2]"},
		{2, 20, "11-20 [?q=a] [1 2]"},
		{5, 95, "41-50 [?p=4&q=a] [2 3 4 5 6 7 8] ?p=6&q=a"},
		{9, 25, "25-25 [?p=3&q=a] []"}, // beyond the end
		{9, 0, "0-0 [?q=a] []"},
	} {
		params := url.Values{"q": {"a"}, "p": {fmt.Sprint(tt.number)}}
		p := newPager("", params, "p", tt.number, 10, tt.total)
		got := fmt.Sprintf("%d-%d [%s] ", p.From, p.To, p.Previous)
		numbers := []int{}
		for _, n := range p.Pages {
			numbers = append(numbers, n.Number)
			if n.Current != (n.Number == tt.number) {
				t.Errorf("page %d of %d: %+v", tt.number, tt.total, n)
			}
		}
		if got += fmt.Sprint(numbers); p.Next != "" {
			got += " " + p.Next
		}
		if got != tt.want {
			t.Errorf("page %d of %d: %s, want %s", tt.number, tt.total, got, tt.want)
		}
		if params.Get("p") != fmt.Sprint(tt.number) {
			t.Error("the parameters of the request have changed")
		}
	}
}
