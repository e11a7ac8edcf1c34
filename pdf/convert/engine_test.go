package convert_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/pdf"
	"github.com/webindexer/indexer/pdf/convert"
	"github.com/webindexer/indexer/pdf/pdftest"
)

// sample is a document of two pages.
func sample(o pdftest.Options) []byte {
	return pdftest.Make(o,
		[]string{"#The port", "", "The harbour is dredged every third year, and", "größere ships come.", "", "the plan"},
		[]string{"Pier & quay", "", "A pier, and", "another."})
}

const (
	head = "<!DOCTYPE html>\n<html>\n<meta name=\"pdf-sha256\">\n<title>The port</title>\n<body>\n<h1 id=\"page=1\">The port</h1>\n"
	rest = "<p>The harbour is dredged every third year, and größere ships come.</p>\n<p>the plan</p>\n<p>Pier &amp; quay</p>\n<p>A pier, and another.</p>\n"
)

var digest = regexp.MustCompile(` content="[0-9a-f]{64}"`)

// TestEngine compiles PDFium once, which takes seconds, and a minute with the race detector.
func TestEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("PDFium takes too long to compile")
	}
	e, err := convert.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, e)
	t.Run("proper", func(t *testing.T) { testProper(t, e) })
	t.Run("hostile", func(t *testing.T) { testHostile(t, e) })
}

func testProper(t *testing.T, e *convert.Engine) {
	for _, tt := range []struct {
		name    string
		options pdftest.Options
		want    string
	}{
		{"plain", pdftest.Options{}, head + rest},
		{"title", pdftest.Options{Title: "Plan <2> of the port"}, strings.Replace(head, "<title>The port", "<title>Plan &lt;2&gt; of the port", 1) + rest},
		{"title that a program made up", pdftest.Options{Title: "Microsoft Word - plan.doc"}, head + rest},
		{"title in the metadata", pdftest.Options{Metadata: "Ports &amp; piers"}, strings.Replace(head, "<title>The port", "<title>Ports &amp; piers", 1) + rest},
		{"language", pdftest.Options{Language: "de-CH"}, strings.Replace(head, "<html>", `<html lang="de-CH">`, 1) + rest},
		{"link", pdftest.Options{Link: "https://port.example/plan?a=1&b=2"}, head + strings.Replace(rest, "the plan", `<a href="https://port.example/plan?a=1&amp;b=2">the plan</a>`, 1)},
		{"bookmarks", pdftest.Options{Bookmarks: []string{"The Port", "Pier & Quay"}},
			strings.ReplaceAll(head, "h1", "h2") + strings.Replace(rest, "<p>Pier &amp; quay</p>", `<h2 id="page=2">Pier &amp; quay</h2>`, 1)},
		{"compressed", pdftest.Options{Compress: true}, head + rest},
		{"cross-reference stream", pdftest.Options{Compress: true, XRefStream: true}, head + rest},
		{"codes with a map", pdftest.Options{Coded: true, Compress: true}, head + rest},
		{"encrypted for nobody", pdftest.Options{EmptyPassword: true}, head + rest},
	} {
		html, err := e.HTML(t.Context(), sample(tt.options))
		if got := digest.ReplaceAllString(string(html), ""); err != nil || got != tt.want {
			t.Errorf("%s: %v\n got %q\nwant %q", tt.name, err, got, tt.want)
		}
	}
	// What was read names the document: two without text differ.
	a, errA := e.HTML(t.Context(), pdftest.Make(pdftest.Options{}, nil))
	b, errB := e.HTML(t.Context(), pdftest.Make(pdftest.Options{}, nil, nil))
	if string(a) == string(b) || errA != nil || errB != nil {
		t.Errorf("%q %q %v %v", a, b, errA, errB)
	}
}

func testHostile(t *testing.T, e *convert.Engine) {
	hostile := pdftest.Hostile()
	hostile["encrypted"] = sample(pdftest.Options{Password: "secret"})
	if !testenv.Long() {
		delete(hostile, "a bomb") // it takes seconds
	}
	why := map[string]error{
		"encrypted": convert.ErrEncrypted, "a bomb": convert.ErrCrashed,
		"empty": convert.ErrDamaged, "nonsense": convert.ErrDamaged, "cut off": convert.ErrDamaged, "a huge table": convert.ErrDamaged,
		"a header of nothing": convert.ErrDamaged, "references to itself": convert.ErrDamaged,
	}
	for name, body := range hostile {
		html, err := e.HTML(t.Context(), body)
		unreadable := pdf.Unreadable("")
		switch want := why[name]; {
		case !errors.Is(err, want):
			t.Errorf("%s: %v, want %v", name, err, want)
		case want != nil && !errors.As(err, &unreadable):
			t.Errorf("%s: %v is not the document's", name, err)
		case want == convert.ErrDamaged && strings.ContainsAny(err.Error(), "0123456789"):
			t.Errorf("%s: %v gives a number, not what is wrong", name, err)
		case want == nil && len(html) == 0:
			t.Errorf("%s has no HTML", name)
		}
		if again, err := e.HTML(t.Context(), sample(pdftest.Options{})); err != nil || len(again) == 0 {
			t.Fatalf("after %s: %v", name, err)
		}
	}
}
