package schema

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
)

// preferred is the order of semantics.md section 4 in words: those that can be
// canonical first; of these https before http, then the shorter, then by bytes.
func preferred(a, b MemberInfo) int {
	first := func(a, b bool) int {
		return map[[2]bool]int{{true, false}: -1, {false, true}: 1}[[2]bool{a, b}]
	}
	https := func(m MemberInfo) bool { return m.Eligible && m.URL.Scheme() == "https" }
	return cmp.Or(first(a.Eligible, b.Eligible), first(https(a), https(b)),
		cmp.Compare(len(a.URL), len(b.URL)), cmp.Compare(a.URL, b.URL))
}

// TestMemberOrder: the order of member rows is the order of preference, within
// the cluster and never across.
func TestMemberOrder(t *testing.T) {
	for seed := range testenv.Seeds(t, 0, 50) {
		random := rand.New(rand.NewPCG(seed, 0))
		var members []MemberInfo
		for i := range 40 {
			u := fmt.Sprintf("%s://%s.example/%s%d", []string{"http", "https"}[random.IntN(2)],
				[]string{"a", "b", "www.a"}[random.IntN(3)], strings.Repeat("p", random.IntN(300)), i)
			members = append(members, MemberInfo{URL: page.MustParseURL(u), Eligible: random.IntN(3) > 0})
		}
		k, next := page.ContentKey{31: 7}, page.ContentKey{31: 8}
		byRow := slices.Clone(members)
		slices.SortFunc(byRow, func(a, b MemberInfo) int { return cmp.Compare(MemberRow(k, a), MemberRow(k, b)) })
		slices.SortFunc(members, preferred)
		if !slices.Equal(byRow, members) {
			t.Fatalf("seed %d: by row %v, by preference %v", seed, byRow, members)
		}
		last := MemberRow(k, members[len(members)-1])
		if !strings.HasPrefix(last, ClusterRow(k)) || last >= MemberRow(next, members[0]) {
			t.Fatalf("seed %d: the rows of two clusters are mixed", seed)
		}
	}
}

// TestLongRows: the longest URLs make rows that a store takes, even in pairs.
func TestLongRows(t *testing.T) {
	u := page.MustParseURL("http://u:p@a.example:8080/" + strings.Repeat("x", page.MaxURLLength-26))
	if len(u) != page.MaxURLLength {
		t.Fatalf("%d bytes", len(u))
	}
	row := PairRow(u, u)
	if len(row) > 16<<10 {
		t.Errorf("a pair row of %d bytes", len(row))
	}
	if target, source, err := ParsePairRow(row); target != u || source != u || err != nil {
		t.Errorf("parsed: %v", err)
	}
	if _, m, err := ParseMemberRow(MemberRow(page.ContentKey{}, MemberInfo{URL: u})); m.URL != u || err != nil {
		t.Errorf("parsed: %v", err)
	}
}

// TestPairRows: the edges to a target are a range of their own.
func TestPairRows(t *testing.T) {
	a, longer := page.URL("https://a.example/x"), page.URL("https://a.example/x/y")
	for _, source := range []page.URL{a, longer, otherURL} {
		row := PairRow(a, source)
		if !strings.HasPrefix(row, PairPrefix(a)) || strings.HasPrefix(row, PairPrefix(longer)) {
			t.Errorf("%q is not in the range of %s alone", row, a)
		}
		if target, from, err := ParsePairRow(row); target != a || from != source || PairSource(row) != URLRow(source) || err != nil {
			t.Errorf("%q is taken apart into %s and %s, %v", row, target, from, err)
		}
	}
}

// TestDamagedRows: what is not a row is refused.
func TestDamagedRows(t *testing.T) {
	member := MemberRow(page.ContentKey{}, MemberInfo{URL: someURL, Eligible: true})
	for _, row := range []string{"", "x", member[:35], member + "x", strings.Replace(member, "\x00\x13", "\x00\x14", 1),
		member[:32] + "\x03" + member[33:], member[:32] + "\x01" + member[33:]} {
		if _, _, err := ParseMemberRow(row); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("member row %q: %v", row, err)
		}
	}
	for _, row := range []string{"", "x", "com.example/https/", "a\x00b", URLRow(someURL) + "\x00"} {
		if _, _, err := ParsePairRow(row); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("pair row %q: %v", row, err)
		}
	}
	if _, err := ParseURLRow("com.EXAMPLE/https/"); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("URL row: %v", err)
	}
	if _, err := ParseClusterRow("short"); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("cluster row: %v", err)
	}
}
