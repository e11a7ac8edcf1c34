package page

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestManyCopies: x/net/html makes trees of gigabytes of pages that leave many formatting elements open,
// or one with many attributes. Such a page is read without it.
func TestManyCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutine, and takes a minute with the race detector")
	}
	numbered := func(format string, times int) string {
		var b strings.Builder
		for i := range times {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	paragraphs := strings.Repeat("<p>x", 100_000)
	for name, c := range map[string]struct {
		body string
		many bool
	}{
		"many elements":        {"<p>" + numbered("<b id=%d>", 450) + "</p>" + paragraphs, true},
		"of any name":          {"<p>" + numbered("<Strike\nid=%d>", 450) + "</p>" + paragraphs, true},
		"many attributes":      {"<p><i" + numbered(" x%d", 10_000) + "></p>" + paragraphs, true},
		"attributes of a link": {"<p><a" + numbered(" x%d='>'", 10_000) + "></p>" + paragraphs, true},
		"a comment":            {"<p>" + numbered("<b id=%d><!--</b>-->", 450) + "</p>" + paragraphs, true},
		"links with much inside": {numbered("<a name=%d>"+strings.Repeat("<div>", 9)+"<a href=/>"+strings.Repeat("</div>", 9), 450) +
			paragraphs, true},
		"beyond a table":         {numbered("<div><b id=%d><div><table></div></b></table></div></div>", 60) + paragraphs, true},
		"beyond a select":        {numbered("<div><b id=%d><div><select></div></b></select></div></div>", 60) + paragraphs, true},
		"beyond an ignored cell": {numbered("<div><b id=%d><td><table></td></b></table></div>", 60) + paragraphs, true},
		"beyond HTML in SVG":     {numbered("<div><b id=%d><svg><desc><u></desc></svg></b></u></desc></svg></div>", 60) + paragraphs, true},
		"beyond forms": {numbered("<div><b id=%d>"+strings.Repeat("<form><table></form></table></form>", 9)+"</b></div>", 60) +
			paragraphs, true},
		"closed by a link":        {"<p>" + strings.Repeat("<b>", 3) + numbered("<i id=%d>", 400) + strings.Repeat("<a>", 100_000), true},
		"a title in SVG":          {"<svg><title><p>" + numbered("<b id=%d>", 450) + "</p>" + paragraphs, true},
		"unclosed tags":           {strings.Repeat("<b a", 100_000), false},
		"unclosed links":          {strings.Repeat("<a ", 350_000) + "></a>", false},
		"unclosed values":         {strings.Repeat("<b/a=", 100_000), false},
		"elements that are equal": {strings.Repeat("<div><p><b></div>", 50_000), false},
		"elements around others":  {numbered("<p><a href=%d><div><span>x</span><svg><title>y</title><path/></svg></div></a>", 50_000), false},
		"elements that end":       {numbered("<p><b id=%d>x</b></p>", 50_000), false},
		"links that do not end":   {numbered("<p><a name=%d>x", 50_000), false},
		"links around blocks":     {numbered("<a href=%d><div><div><p>x</p></div>"+strings.Repeat("<div><h3>y</h3></div>", 4)+"</div></a>", 5000), false},
		"few elements":            {"<p>" + numbered("<b id=%d>", 5) + "</p>" + paragraphs, false},
		"other elements":          {"<p>" + numbered("<span id=%d>", 450) + "</p>" + paragraphs, false},
		"few paragraphs":          {"<p>" + numbered("<b id=%d>", 450) + "</p>" + paragraphs[:1000], false},
	} {
		if got := takesLong([]byte(c.body)); got != c.many {
			t.Errorf("%s: %t", name, got)
			continue // it might take all memory
		}
		d := Interpret(htmlFetch("https://a.example/", "<title>t</title><p><a href=/b>c</a>"+c.body))
		if d.Title != "t" || len(d.Links) == 0 || d.Links[0].Target != "https://a.example/b" {
			t.Errorf("%s: title %q, links %v", name, d.Title, d.Links)
		}
	}
}

// TestManyOpen: an end tag looks for its element among the last ones only. Otherwise half a mebibyte took
// half a minute.
func TestManyOpen(t *testing.T) {
	f := openFormatting{equal: make(map[string]int)}
	for range 2 * mostOpen {
		f.startFormatting(openTag{name: "b", tag: "b", weight: 1})
	}
	for range 2 * mostOpen {
		f.end("b")
	}
	if len(f.open) != 0 || f.equal["b"] != mostOpen || f.weight != mostEqual {
		t.Errorf("%d are open, of %d equal ones, and their weight is %d", len(f.open), f.equal["b"], f.weight)
	}
}

// TestCopyBound: for random pages, the copies are at most twice the estimates, and one for each tag.
func TestCopyBound(t *testing.T) {
	for s := range testenv.Seeds(t, testenv.Fresh(t), 2000) {
		body := randomFormatting(rand.New(rand.NewPCG(s, 1)))
		root, err := html.Parse(bytes.NewReader(body))
		if err != nil {
			continue // too deep
		}
		copies := 0
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && isFormatting([]byte(n.Data)) {
				copies++
			}
		}
		bound := copyBound{seen: make(map[uint64]int), seed: maphash.MakeSeed()}
		for _, rest, found := bytes.Cut(body, []byte{'<'}); found; _, rest, found = bytes.Cut(rest, []byte{'<'}) {
			if copies--; isFormattingTag(rest) {
				copies--
			}
			bound.add(rest)
		}
		if copies > 2*bound.copies {
			t.Errorf("seed %d: %d copies, and the quick estimate is %d: %s", s, copies, bound.copies, body)
		}
		if copies > 1 && !copiesMoreThan(copies/2-1, body) {
			t.Errorf("seed %d: %d copies, and the estimate is less than half: %s", s, copies, body)
		}
	}
}

func isFormattingTag(tag []byte) bool {
	weight, _ := formattingWeight(tag)
	return weight > 0
}

// randomFormatting makes a page of elements that are closed too late or not at all, and then parts of it
// again and again.
func randomFormatting(rng *rand.Rand) []byte {
	all := strings.Fields("a a b i font nobr p p div ul li td tr table tbody caption object marquee template span svg desc math mi select option " +
		"h1 h2 form button ruby rt center dd frameset body title br input hr")
	names := make([]string, 1+rng.IntN(1+rng.IntN(8)))
	for i := range names {
		names[i] = all[rng.IntN(len(all))]
	}
	if rng.IntN(2) == 0 {
		names[0] = "a"
	}
	name := func() string { return names[rng.IntN(len(names))] }
	attributes, closing, id := rng.IntN(2) == 0, rng.Float64(), 0
	start := func() string {
		if id++; attributes {
			return fmt.Sprintf("<%s id=%d>", name(), id)
		}
		return "<" + name() + ">"
	}
	parts := make([]func() string, 1+rng.IntN(4))
	for i := range parts {
		depth, inside, size := rng.IntN(14), name(), rng.IntN(20)
		nested := func(s string) string {
			return strings.Repeat("<"+inside+">", depth) + s + strings.Repeat("</"+inside+">", depth)
		}
		parts[i] = []func() string{
			func() string { return nested(start() + "x") },
			func() string { return nested(start() + "x</" + name() + ">") },
			func() string { return start() + nested("x"+start()) + "</" + name() + ">" },
			func() (s string) {
				for range size {
					if rng.Float64() < closing {
						s += "</" + name() + ">x"
					} else {
						s += start()
					}
				}
				return s
			},
		}[rng.IntN(4)]
	}
	var b bytes.Buffer
	for range 1 + rng.IntN(40) {
		b.WriteString(parts[rng.IntN(len(parts))]())
	}
	b.WriteString(strings.Repeat("<"+name()+">x", rng.IntN(200)))
	return b.Bytes()
}

// TestReadAttributes: the attributes of a tag are counted as x/net/html reads them, except that it drops
// repetitions.
func TestReadAttributes(t *testing.T) {
	for s := range testenv.Seeds(t, testenv.Fresh(t), 20_000) {
		rng := rand.New(rand.NewPCG(s, 1))
		tag := []byte("b ")
		for i := range rng.IntN(12) {
			tag = append(tag, " \n/=='\">x\x00"[rng.IntN(10)], byte('A'+i))
		}
		tag = append(tag, "'>\">"...)
		z := html.NewTokenizer(bytes.NewReader(append([]byte{'<'}, tag...)))
		z.Next()
		want := len(z.Token().Attr)
		if got, _ := readAttributes(tag[1:]); got != want {
			t.Errorf("seed %d: %q has %d attributes, not %d", s, tag, want, got)
		}
	}
}
