package seeds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cockroachdb/datadriven"
	utf "golang.org/x/text/encoding/unicode"

	"github.com/webindexer/indexer/page"
)

// TestParse shows what lines come to: the line's number, the URL, and http for a
// bare host.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata/parse", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return show(Parse("seeds.txt", strings.NewReader(d.Input)))
		})
	})
}

func show(list Seeds, err error) string {
	var out strings.Builder
	for _, s := range list {
		fmt.Fprintf(&out, "%d %s", s.Line, s.URL)
		if s.Bare {
			out.WriteString(" bare")
		}
		out.WriteString("\n")
	}
	if err != nil {
		fmt.Fprintln(&out, err)
	}
	return out.String()
}

// TestFileForms reads the same seeds as editors of all kinds save them.
func TestFileForms(t *testing.T) {
	const text = "# ä\nhttps://example.com/ä\n\nbücher.example\n"
	utf16 := func(order utf.Endianness) string {
		s, err := utf.UTF16(order, utf.UseBOM).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := show(Parse("", strings.NewReader(text)))
	if want != "2 https://example.com/%C3%A4\n4 https://xn--bcher-kva.example/ bare\n" {
		t.Fatal(want)
	}
	for name, form := range map[string]string{
		"BOM":              "\ufeff" + text,
		"CRLF":             strings.ReplaceAll(text, "\n", "\r\n"),
		"no last line end": strings.TrimSuffix(text, "\n"),
		"UTF-16 LE":        utf16(utf.LittleEndian),
		"UTF-16 BE":        utf16(utf.BigEndian),
	} {
		if got := show(Parse("", strings.NewReader(form))); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestNotUTF8 checks that what cannot be read is said to be so, and nothing else lost.
func TestNotUTF8(t *testing.T) {
	list, err := Parse("f", strings.NewReader("a.example\nb\xfccher.example\nc\x00.example\nd.example"))
	if len(list) != 2 || list[1].Line != 4 {
		t.Errorf("seeds %v", list)
	}
	for i, want := range []string{"f:2: \"b?cher.example\" is not UTF-8", "f:3: \"c\\x00.example\" has zero bytes"} {
		if lines := strings.Split(err.Error(), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[i], want) {
			t.Errorf("%q, want %q", lines, want)
		}
	}
}

func TestMaxLine(t *testing.T) {
	long := strings.Repeat("x", 3*MaxLine)
	fits := "b.example" + strings.Repeat(" ", MaxLine-len("b.example"))
	list, err := Parse("f", strings.NewReader("a.example\n"+long+"\n"+fits+"\r\n"+fits+"  \nhttps://c.example/"+long[:page.MaxURLLength]+"\nd.example"))
	if got := show(list, nil); got != "1 https://a.example/ bare\n3 https://b.example/ bare\n6 https://d.example/ bare\n" {
		t.Errorf("seeds %s", got)
	}
	var rejected *LineError
	if !errors.As(err, &rejected) || rejected.Line != 2 || len(err.Error()) > 2000 {
		t.Errorf("error %v", err)
	}
	if n := strings.Count(err.Error(), "\n"); n != 2 {
		t.Errorf("%d errors, want 3: %v", n+1, err)
	}
}

func TestMaxSeeds(t *testing.T) {
	const most = 1000
	var text bytes.Buffer
	for i := range most {
		fmt.Fprintf(&text, "https://example.com/%d\n", i)
	}
	text.WriteString("https://example.com/1\n") // one that there is adds none
	list, err := parse("f", bytes.NewReader(text.Bytes()), most)
	if len(list) != most || err != nil {
		t.Errorf("%d seeds, error %v", len(list), err)
	}
	text.WriteString("https://example.com/last\n/\n")
	list, err = parse("f", &text, most)
	if len(list) != most || !errors.Is(err, ErrTooMany) || !strings.HasPrefix(err.Error(), "f:1002: more than ") || strings.Contains(err.Error(), "1003") {
		t.Errorf("%d seeds, error %v", len(list), err)
	}
}

func TestMaxErrors(t *testing.T) {
	bad := strings.Repeat("/\n", MaxErrors+5)
	list, err := Parse("f", strings.NewReader("a.example\n"+bad+"b.example"))
	if len(list) != 2 || !strings.HasSuffix(err.Error(), "\nf: 5 more lines rejected") {
		t.Errorf("%d seeds, error ends %q", len(list), err.Error()[len(err.Error())-50:])
	}
	list, err = Parse("f", strings.NewReader(bad+"b.example"))
	if len(list) != 0 || !errors.Is(err, ErrNoList) {
		t.Errorf("%d seeds, %v", len(list), errors.Is(err, ErrNoList))
	}
}

// TestReadError checks that a line that was cut short by an error is not a seed.
func TestReadError(t *testing.T) {
	broken := errors.New("broken pipe")
	r := io.MultiReader(strings.NewReader("a.example\nb.example.co"), iotest.ErrReader(broken))
	list, err := Parse("-", r)
	if len(list) != 1 || !errors.Is(err, broken) || err.Error() != "read - after line 1: broken pipe" {
		t.Errorf("%v, %v", list, err)
	}
}

func TestParseSeed(t *testing.T) {
	if s, err := ParseSeed(" example.com "); err != nil || s != (Seed{URL: "https://example.com/", Bare: true}) {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := ParseSeed("ftp://example.com/"); err == nil || err.Error() != `"ftp://example.com/" is of the scheme ftp, and only http and https are crawled` {
		t.Errorf("%v", err)
	}
}

// FuzzParse checks that seeds are canonical, unique and in order, that every line
// becomes a seed, an error or nothing, and that a suggested URL is itself a seed.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"example.com\n#c\nhttps://example.com/#f # c\r\n::1\n[::1]:80", "\xff\xfea\x00", "\xef\xbb\xbfa.b", "http:/a\nhttps://https://a.b\n<a.b>",
		"a@b.c\nhttps://u:p@a.b/x\n127.1\n*.a.b\n//a.b\n\u200ba.b\na.b, c.d\nhttp:80\n..",
		strings.Repeat("a", 3000) + ".b",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Parse("f", bytes.NewReader(text))
		seen, line := make(map[page.URL]bool), 0
		for _, s := range list {
			if u, err := page.ParseURL(string(s.URL)); err != nil || u != s.URL || seen[u] || s.Line <= line {
				t.Errorf("%+v after line %d: %q, %v", s, line, u, err)
			}
			if again, err := ParseSeed(string(s.URL)); err != nil || again.URL != s.URL {
				t.Errorf("%q is a seed, then %v, %v", s.URL, again, err)
			}
			seen[s.URL], line = true, s.Line
		}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				checkRejected(t, e)
			}
		}
	})
}

func checkRejected(t *testing.T, err error) {
	var rejected *LineError
	if !errors.As(err, &rejected) {
		return
	}
	if rejected.Line == 0 || rejected.Reason == "" || len(rejected.Error()) > 3000 {
		t.Errorf("%+v", rejected)
	}
	if strings.HasPrefix(rejected.Reason, "has a sign") && rejected.Instead != "" {
		if _, err := ParseSeed(rejected.Instead); err != nil {
			t.Errorf("%v, but %v", rejected, err)
		}
	}
}
