package completion

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/index/indextest"
	"github.com/webindexer/indexer/internal/testenv"
)

// bare leaves out words of digits.
func bare(text string) string {
	kept := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return strings.Trim(w, "0123456789.()") == "" })
	return strings.Join(kept, " ")
}

// TestSpec runs testdata/spec. The command documents makes a table: a line has host, language,
// rank, title, and texts of links with their numbers, separated by semicolons. The command find
// completes the text of each line, in brackets.
func TestSpec(t *testing.T) {
	var table *Table
	datadriven.RunTest(t, "testdata/spec", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "documents":
			b := NewBuilder(bare)
			for line := range strings.Lines(d.Input) {
				b.Add(parseDocument(t, strings.TrimSpace(line)))
			}
			table = b.Table()
			return fmt.Sprintf("%d texts\n", table.Len())
		case "find":
			var f Filter
			n := 5
			d.MaybeScanArgs(t, "site", &f.Site)
			d.MaybeScanArgs(t, "language", &f.Language)
			d.MaybeScanArgs(t, "n", &n)
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				typed := strings.TrimSuffix(strings.TrimPrefix(strings.TrimRight(line, "\n"), "["), "]")
				fmt.Fprintf(&out, "[%s]\n", typed)
				for _, c := range table.Find(typed, f, n) {
					fmt.Fprintf(&out, "  %s (%.4g)\n", c.Text, c.Score)
				}
			}
			return out.String()
		}
		d.Fatalf(t, "unknown command %s", d.Cmd)
		return ""
	})
}

func parseDocument(t *testing.T, line string) *Document {
	t.Helper()
	fields := strings.Split(line, ";")
	d := new(Document)
	if _, err := fmt.Sscan(fields[0], &d.Host, &d.Language, &d.Rank); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	d.Title = strings.TrimSpace(fields[1])
	all := 0.0
	for _, f := range fields[2:] {
		number, text, _ := strings.Cut(strings.TrimSpace(f), " ")
		a := Anchor{Text: text}
		if _, err := fmt.Sscan(number, &a.Links); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all += float64(a.Links)
		d.Anchors = append(d.Anchors, a)
	}
	for i := range d.Anchors {
		d.Anchors[i].Share = float64(d.Anchors[i].Links) / all
	}
	return d
}

// randomText is words of few letters, so that many have a beginning in common.
func randomText(rng *rand.Rand) string {
	words := make([]string, 1+rng.IntN(4))
	for i := range words {
		letters := []rune("abÀ東京")
		for range 1 + rng.IntN(3) {
			words[i] += string(letters[rng.IntN(len(letters))])
		}
	}
	return strings.Join(words, []string{" ", "-", ", "}[rng.IntN(3)])
}

// The array finds what a look at every text finds, and in the same order.
func TestFindIsComplete(t *testing.T) {
	rng := testenv.Random(t)
	for range testenv.Size(20, 100, 5000) {
		var list []stored
		for i := range rng.IntN(60) {
			list = append(list, stored{text: randomText(rng), weight: float64(rng.IntN(5)), group: uint64(i)})
		}
		slices.SortFunc(list, func(x, y stored) int { return compare(&x, &y) })
		table := newTable(list, []string{"a.example"})
		for range 10 {
			typed, n := randomText(rng), 1+rng.IntN(8)
			if rng.IntN(2) == 0 {
				runes := []rune(typed)
				typed = string(runes[:1+rng.IntN(len(runes))])
			}
			var got []string
			for _, c := range table.Find(typed, Filter{}, n) {
				got = append(got, fmt.Sprint(c.Text, c.Score))
			}
			if want := naive(list, typed, n); !slices.Equal(got, want) {
				t.Fatalf("%q: %d completions %q, want %q", typed, n, got, want)
			}
		}
	}
}

// naive is Find without an array.
func naive(list []stored, typed string, n int) (out []string) {
	var k key
	k.prefix(typed)
	prefix := string(k.text)
	whole := strings.TrimSuffix(prefix, " ")
	type found struct {
		text  string
		score float64
	}
	var exact, loose []found
	for i := range list {
		k.fold(list[i].text)
		text := string(k.text)
		matches := func(w string) bool {
			return slices.ContainsFunc(k.starts, func(at int) bool { return strings.HasPrefix(text[at:], w) })
		}
		words := strings.Fields(prefix)
		switch {
		case text == whole:
		case strings.HasPrefix(text+"\n", prefix):
			exact = append(exact, found{list[i].text, beginsBetter * list[i].weight})
		case matches(prefix):
			exact = append(exact, found{list[i].text, list[i].weight})
		case len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool { return !matches(w) }):
			loose = append(loose, found{list[i].text, list[i].weight})
		}
	}
	for _, l := range [][]found{exact, loose} {
		slices.SortStableFunc(l, func(a, b found) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.text, b.text))
		})
		for _, f := range l[:min(len(l), n-len(out))] {
			out = append(out, fmt.Sprint(f.text, f.score))
		}
	}
	return out
}

// FuzzFind: whatever pages are called, and whatever is typed, the completions have what was
// typed, and their number is bounded.
func FuzzFind(f *testing.F) {
	for _, s := range indextest.OddTexts {
		f.Add(s, s)
		f.Add("A page on "+s+" | Site", "on")
	}
	f.Fuzz(func(t *testing.T, title, typed string) {
		b := NewBuilder(bare)
		b.Add(&Document{Host: "a.example", Title: title, Rank: 1, Anchors: []Anchor{{Text: title + "s", Links: 2, Share: .5}, {Text: typed, Links: 3, Share: .5}}})
		b.Add(&Document{Host: "b.example", Title: typed, Rank: 2})
		table := b.Table()
		var k key
		k.fold(typed)
		list := table.Find(typed, Filter{Site: "a.example"}, 2)
		if len(list) > 2 || len(k.text) == 0 && len(list) > 0 {
			t.Fatalf("%q has the completions %v", typed, list)
		}
		for _, c := range list {
			if !readable(c.Text) || strings.ContainsAny(c.Text, "\"\n") {
				t.Errorf("%q is suggested", c.Text)
			}
			var have key
			have.fold(c.Text)
			for w := range strings.FieldsSeq(string(k.text)) {
				if !hasWord(string(have.text), w) {
					t.Errorf("%q is suggested for %q", c.Text, typed)
				}
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	builder := NewBuilder(bare)
	for i := range MaxDocuments {
		var title strings.Builder
		for range 4 {
			fmt.Fprintf(&title, "%c%x ", 'a'+rng.IntN(26), rng.IntN(5000))
		}
		builder.Add(&Document{Host: fmt.Sprintf("site%d.example", i%500), Title: title.String(), Rank: rng.ExpFloat64()})
	}
	table := builder.Table()
	for _, typed := range []string{"a", "ab", "a1 b"} {
		b.Run(strings.ReplaceAll(typed, " ", "+"), func(b *testing.B) {
			for b.Loop() {
				table.Find(typed, Filter{}, 8)
			}
		})
	}
}

// TestSiteFilter: a site is a host with its subdomains, in every form that site: takes.
func TestSiteFilter(t *testing.T) {
	b := NewBuilder(func(s string) string { return s })
	for _, host := range []string{"sub.a.example", "[2001:db8::1]", "127.0.0.1"} {
		b.Add(&Document{Host: host, Title: "Lamps of " + host, Rank: 1})
	}
	table := b.Table()
	for site, host := range map[string]string{
		"a.example": "sub.a.example", "www.sub.a.example:80": "sub.a.example", "127.0.0.1": "127.0.0.1",
		"[2001:db8::1]": "[2001:db8::1]", "2001:db8::1": "[2001:db8::1]", "[2001:db8::1]:8080": "[2001:db8::1]",
	} {
		if list := table.Find("lam", Filter{Site: site}, 5); len(list) != 1 || list[0].Text != "Lamps of "+host {
			t.Errorf("%s: %+v", site, list)
		}
	}
}
