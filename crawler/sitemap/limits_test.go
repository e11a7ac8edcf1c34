package sitemap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/net/html"

	"github.com/webindexer/indexer/page"
)

const base = "https://example.com/sitemap.xml"

func TestMaxEntries(t *testing.T) {
	var body strings.Builder
	body.WriteString("<urlset>")
	for i := range MaxEntries + 5 {
		fmt.Fprintf(&body, "<url><loc>https://example.com/%d</loc></url>\n", i)
	}
	body.WriteString("</urlset>")
	s, problems := parse(strings.NewReader(body.String()), base, Options{})
	if len(s.Entries) != MaxEntries {
		t.Errorf("%d entries, want %d", len(s.Entries), MaxEntries)
	}
	if len(problems) != 1 || !errors.Is(problems[0], errTooMany) || problems[0].Line != MaxEntries+1 {
		t.Errorf("problems %v", problems)
	}
}

// TestMaxSize sends what comes out of a small file as more than anyone wants.
func TestMaxSize(t *testing.T) {
	if testing.Short() {
		t.Skip("decompresses 50 MB")
	}
	body := "https://example.com/first\n" + strings.Repeat("\n", MaxSize) + "https://example.com/last\n"
	s, problems := parse(bytes.NewReader(compress(t, []byte(body))), base, Options{})
	if len(s.Entries) != 1 || len(problems) != 1 || !errors.Is(problems[0], errTooLarge) {
		t.Errorf("%v, problems %v", s.Entries, problems)
	}
}

// TestTake checks that nothing is read after an entry that was not taken.
func TestTake(t *testing.T) {
	for _, form := range []string{
		"<urlset><url><loc>https://example.com/a</loc></url><url><loc>https://example.com/b</loc></url><url>",
		"https://example.com/a\nhttps://example.com/b\nhttps://[",
	} {
		var taken []page.URL
		s, problems := Parse(strings.NewReader(form), base, Options{}, func(e Entry) bool { taken = append(taken, e.URL); return false })
		if len(taken) != 1 || s.Entries != 1 || len(problems) != 0 {
			t.Errorf("%s: took %v, %+v, problems %v", form, taken, s, problems)
		}
	}
}

// TestExactSize checks that a file of just the limit is whole.
func TestExactSize(t *testing.T) {
	in := func(n int) error {
		_, err := io.ReadAll(&sizeLimit{r: strings.NewReader(strings.Repeat("x", 100)), left: int64(n)})
		return err
	}
	if err := in(100); err != nil {
		t.Errorf("100 bytes of 100: %v", err)
	}
	if err := in(99); !errors.Is(err, errTooLarge) {
		t.Errorf("100 bytes of 99: %v", err)
	}
}

// TestMaxToken checks that no tag, text, comment or attribute is read in full,
// whatever its size, and that what stood before it counts.
func TestMaxToken(t *testing.T) {
	good := "<urlset><url><loc>https://example.com/a</loc></url>"
	big := strings.Repeat("x", maxToken)
	for _, bad := range []string{"<" + big, "<!--" + big, "<a b='" + big, big, "<![CDATA[" + big, "<!DOCTYPE " + big, "<?x " + big,
		"<url><loc>https://example.com/" + big} {
		s, problems := parse(strings.NewReader(good+bad+"</urlset>"), base, Options{})
		if len(s.Entries) != 1 {
			t.Errorf("%.20s: %d entries", bad, len(s.Entries))
		}
		if len(problems) == 0 || !errors.Is(problems[len(problems)-1], errToken) {
			t.Errorf("%.20s: problems %v", bad, problems)
		}
	}
}

// TestManySegments: the URL parser copies 16 MB for a URL of 4,000 segments. A file of such URLs is not read in
// full, whatever way it writes them.
func TestManySegments(t *testing.T) {
	path := strings.Repeat("/a", 4000)
	for name, c := range map[string]struct{ head, entry, tail string }{
		"urlset": {"<urlset>", "<url><loc>https://example.com" + path + "/..</loc></url>", "</urlset>"},
		"text":   {"", "https://example.com" + path + "/..\n", ""},
		"XML Base": {"<feed>", `<entry xml:base="https://example.com` + path + `/"><link href="?q=a b"/></entry>`,
			"</feed>"},
	} {
		body := func(times int) *strings.Reader {
			return strings.NewReader(c.head + strings.Repeat(c.entry, times) + c.tail)
		}
		if s, problems := parse(body(1), base, Options{}); len(s.Entries) != 1 || len(problems) != 0 {
			t.Errorf("%s: of one, entries %v, problems %v", name, s.Entries, problems)
		}
		s, problems := parse(body(200), base, Options{})
		if len(s.Entries) > 50 || len(problems) == 0 {
			t.Errorf("%s: of 200, %d entries, problems %v", name, len(s.Entries), problems)
		}
	}
}

func TestDeepNesting(t *testing.T) {
	body := "<urlset>" + strings.Repeat("<p>", 100_000) + "<url><loc>https://example.com/deep</loc></url>" +
		strings.Repeat("</p>", 100_000) + "<url><loc>https://example.com/a</loc></url></urlset>"
	s, _ := parse(strings.NewReader(body), base, Options{})
	if len(s.Entries) != 1 || s.Entries[0].URL != "https://example.com/a" {
		t.Errorf("entries %v", s.Entries)
	}
}

// TestReadError fails the connection after every number of bytes: entries are a prefix
// of the whole file's, and the error is reported.
func TestReadError(t *testing.T) {
	broken := errors.New("connection reset")
	for _, form := range []string{
		"<urlset><url><loc>https://example.com/ab</loc></url><url><loc>https://example.com/cd</loc></url></urlset>",
		"https://example.com/ab\nhttps://example.com/cd\n",
	} {
		all, problems := parse(strings.NewReader(form), base, Options{})
		if len(all.Entries) != 2 || len(problems) != 0 {
			t.Fatalf("%v, %v", all.Entries, problems)
		}
		for n := range len(form) - 1 {
			r := io.MultiReader(strings.NewReader(form[:n]), iotest.ErrReader(broken))
			s, problems := parse(iotest.OneByteReader(r), base, Options{})
			for i, e := range s.Entries {
				if e != all.Entries[i] {
					t.Fatalf("after %d bytes: entry %v, which the file does not have", n, e)
				}
			}
			if len(problems) == 0 || !errors.Is(problems[len(problems)-1], broken) {
				t.Fatalf("after %d bytes: problems %v", n, problems)
			}
		}
	}
}

// TestControlCharacters checks that what XML forbids and feeds have in them does
// not end the reading.
func TestControlCharacters(t *testing.T) {
	body := "<rss><item><title>a\x0b\x00</title><link>https://example.com/a\x1f</link></item></rss>"
	s, problems := parse(strings.NewReader(body), base, Options{})
	if len(problems) != 0 || len(s.Entries) != 1 || s.Entries[0].URL != "https://example.com/a" {
		t.Errorf("%v, problems %v", s.Entries, problems)
	}
}

func TestMaxProblems(t *testing.T) {
	body := "<urlset>" + strings.Repeat("<url></url>\n", 500)
	_, problems := parse(strings.NewReader(body), base, Options{})
	if len(problems) != MaxProblems {
		t.Errorf("%d problems, want %d", len(problems), MaxProblems)
	}
	if got := problems[MaxProblems-2].Err.Error(); got != "402 more problems up to here" {
		t.Errorf("the last but one is %q", got)
	}
	if !errors.Is(problems[MaxProblems-1], io.ErrUnexpectedEOF) {
		t.Errorf("the last is %v", problems[MaxProblems-1])
	}
}

// TestAnnouncedIsAskedOncePerRun checks that a file's pages on one host cost one
// question.
func TestAnnouncedIsAskedOncePerRun(t *testing.T) {
	var asked []string
	announced := func(site string) bool { asked = append(asked, site); return true }
	body := strings.Repeat("https://a.example/\n", 5) + strings.Repeat("https://b.example/\n", 5)
	s, _ := parse(strings.NewReader(body), base, Options{Announced: announced})
	if len(s.Entries) != 10 || strings.Join(asked, " ") != "https://a.example https://b.example" {
		t.Errorf("%d entries, asked %v", len(s.Entries), asked)
	}
}

func TestMaxReferences(t *testing.T) {
	var body strings.Builder
	for i := range MaxReferences + 10 {
		fmt.Fprintf(&body, "<link rel=next href=/%d>", i)
	}
	root, err := html.Parse(strings.NewReader(body.String()))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(Discover(base, root, page.QueryEncoder(&page.Fetch{}))); n != MaxReferences {
		t.Errorf("%d references, want %d", n, MaxReferences)
	}
}

func BenchmarkParse(b *testing.B) {
	var body strings.Builder
	body.WriteString("<urlset>")
	for i := range 10_000 {
		fmt.Fprintf(&body, "<url>\n<loc>https://example.com/articles/%d</loc>\n<lastmod>2024-03-01</lastmod>\n<priority>0.8</priority></url>\n", i)
	}
	body.WriteString("</urlset>")
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if s, _ := parse(strings.NewReader(body.String()), base, Options{}); len(s.Entries) != 10_000 {
			b.Fatal(len(s.Entries))
		}
	}
	b.ReportMetric(10_000*float64(b.N)/b.Elapsed().Seconds(), "urls/s")
}
