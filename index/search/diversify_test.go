package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestDiversify: letters are documents of the host of that name, best first; those below
// the first ten follow the bar.
func TestDiversify(t *testing.T) {
	for _, tt := range []struct {
		above   string // of the tier before
		in      string
		perHost int
		want    string
		more    string // host and number, on the host's last hit
	}{
		{"", "aaabbbcccddd", 2, "aabbccddab|cd", "c1"},
		{"", "aaaaaabcdefghij", 2, "aabcdefghi|aaaaj", "a4"},
		{"", "aaaa", 1, "aaaa", ""},
		{"", "aaab", 1, "abaa", ""},
		{"", "aaaaaaaaaaaaaaab", 2, "aabaaaaaaa|aaaaaa", "a6"},
		{"", "", 2, "", ""},
		{"a", "aaabbbcccddde", 2, "aabbccddea|abcd", "a1 b1 c1 d1"},
		{"aaaa", "abcdefgh", 2, "aaaabcdefg|ah", "a1"},
		{"aba", "aaaaabcd", 2, "ababcdaaaa|a", "a1"},
		{"abcdefghi", "aij", 1, "abcdefghij|ai", "a1 i1"},
		{"abcdefghij", "ak", 1, "abcdefghij|ak", ""},
		{"abcdefghijkl", "am", 1, "abcdefghij|klam", ""},
	} {
		var list []candidate
		for i, host := range tt.above + tt.in {
			list = append(list, candidate{id: int64(i), url: page.URL(fmt.Sprintf("https://%c.example/%d", host, i))})
		}
		before := slices.Clone(list)
		above := slices.Clone(list[:len(tt.above)])
		got := append(above, diversify(above, list[len(tt.above):], nil, nil, tt.perHost, true)...)
		var order, more strings.Builder
		for i, c := range got {
			host := c.url.Host()[:1]
			if i == firstPage {
				order.WriteByte('|')
			}
			order.WriteString(host)
			if c.moreFromHost > 0 {
				fmt.Fprintf(&more, "%s%d ", host, c.moreFromHost)
			}
		}
		if order.String() != tt.want {
			t.Errorf("%s by %d: %s, want %s", tt.in, tt.perHost, &order, tt.want)
		}
		if g, w := strings.Fields(more.String()), strings.Fields(tt.more); !slices.Equal(slices.Sorted(slices.Values(g)), slices.Sorted(slices.Values(w))) {
			t.Errorf("%s by %d: more %q, want %q", tt.in, tt.perHost, &more, tt.more)
		}
		if len(got) != len(before) {
			t.Errorf("%s: %d of %d are left", tt.in, len(got), len(before))
		}
		for _, c := range before {
			if !slices.ContainsFunc(got, func(g candidate) bool { return g.id == c.id }) {
				t.Errorf("%s: %s is lost", tt.in, c.url)
			}
		}
	}
}

// TestDiversifyByScore: a hit of a host that has enough of them counts furtherShare of its score, so
// hits of other hosts that fit far worse do not pass it.
func TestDiversifyByScore(t *testing.T) {
	scored := func(hosts string, scores ...float64) (list []candidate) {
		for i, host := range hosts {
			list = append(list, candidate{id: int64(host)*100 + int64(i), url: page.URL(fmt.Sprintf("https://%c.example/%d", host, i)), score: scores[i]})
		}
		return list
	}
	placed := func(list []candidate, i int, score float64) []candidate {
		list[i].placeOf = &candidate{score: score}
		return list
	}
	for _, tt := range []struct {
		name       string
		list, more []candidate
		want       string
		moved      string
	}{
		{"just worth it", scored("aaab", 100, 90, 80, 64), nil, "aaba", ""},
		{"not worth it", scored("aaab", 100, 90, 80, 63), nil, "aaab", ""},
		{"worth the fourth, not the third", scored("aaaab", 100, 90, 80, 50, 41), nil, "aaaba", ""},
		{"below the page", scored("aaaaabcdefghij", 100, 90, 80, 70, 60, 58, 57, 56, 55, 54, 53, 52, 51, 50), nil, "aaabcdaefg|ahij", "a1"},
		{"of those not among the best", scored("aaa", 100, 90, 80), scored("bc", 70, 9), "aabac", ""},
		{"in the place of a better version", placed(scored("aaab", 100, 90, 10, 64), 2, 85), nil, "aaab", ""},
		{"passed by the place of a better version", placed(scored("aaab", 100, 90, 80, 10), 3, 64), nil, "aaba", ""},
	} {
		var order, moved strings.Builder
		for i, c := range diversify(nil, tt.list, nil, tt.more, 2, false) {
			if i == firstPage {
				order.WriteByte('|')
			}
			host := c.url.Host()[:1]
			order.WriteString(host)
			if c.moreFromHost > 0 {
				fmt.Fprintf(&moved, "%s%d ", host, c.moreFromHost)
			}
		}
		if order.String() != tt.want || strings.TrimSpace(moved.String()) != tt.moved {
			t.Errorf("%s: %s with %q moved, want %s with %q", tt.name, &order, &moved, tt.want, tt.moved)
		}
	}
}

// TestDominantHosts: hosts with more than two of the best hundred documents, unless two of each host
// fill a page. Letters are documents of the host of that name.
func TestDominantHosts(t *testing.T) {
	for _, tt := range []struct{ above, found, want string }{
		{"", "", ""},
		{"", "aab", ""},
		{"", "aaab", "a"},
		{"", "aaabbb", "ab"},
		{"", "aaabbccdde", "a"}, // nine on a page
		{"", "aaabbccddee", ""}, // ten
		{"aa", "ab", "a"},       // with those of the tier before
		{"fghijkl", "aaab", ""}, // which have places on the page
		{"fghijkl", "aaa", "a"}, // seven and two
		{"", strings.Repeat("a", rerankTop) + "bbb", "a"}, // not among the best hundred
	} {
		hosts := func(s string) (list []candidate) {
			for _, host := range s {
				list = append(list, candidate{url: page.URL(fmt.Sprintf("https://%c.example/", host))})
			}
			return list
		}
		var want []string
		for _, host := range tt.want {
			want = append(want, string(host)+".example")
		}
		if got := dominantHosts(hosts(tt.above), hosts(tt.found), 2); !slices.Equal(got, want) {
			t.Errorf("%.20s after %s: %v, want %v", tt.found, tt.above, got, want)
		}
	}
}
