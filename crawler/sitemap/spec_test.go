package sitemap

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/webindexer/indexer/page"
)

// TestParse shows what files come to. Commands:
//
//	parse url=URL [depth=N] [announced=SITE] [charset=LABEL] [bom] [cr] [crlf] [gzip] [cut=BYTES] [base64]
//	dates           a date a line
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata/parse", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "parse":
				return runParse(t, d)
			case "dates":
				return runDates(d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func runParse(t *testing.T, d *datadriven.TestData) string {
	var base, announced string
	var opts Options
	d.ScanArgs(t, "url", &base)
	d.MaybeScanArgs(t, "depth", &opts.Depth)
	if d.MaybeScanArgs(t, "announced", &announced) {
		opts.Announced = func(site string) bool { return site == announced }
	}
	return show(parse(bytes.NewReader(encode(t, d)), page.MustParseURL(base), opts))
}

// whole is a file with all its entries.
type whole struct {
	Sitemap
	Entries []Entry
}

func parse(r io.Reader, base page.URL, opts Options) (whole, []Problem) {
	var w whole
	var problems []Problem
	w.Sitemap, problems = Parse(r, base, opts, func(e Entry) bool { w.Entries = append(w.Entries, e); return true })
	return w, problems
}

// encode gives a file as it would be sent.
func encode(t *testing.T, d *datadriven.TestData) []byte {
	body := []byte(d.Input)
	var label string
	if d.HasArg("base64") {
		var err error
		if body, err = base64.StdEncoding.DecodeString(d.Input); err != nil {
			t.Fatal(err)
		}
	}
	if d.HasArg("cr") {
		body = bytes.ReplaceAll(body, []byte("\n"), []byte("\r"))
	}
	if d.HasArg("crlf") {
		body = bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
	}
	if d.HasArg("bom") {
		body = append([]byte("\ufeff"), body...)
	}
	if d.MaybeScanArgs(t, "charset", &label) {
		e, err := htmlindex.Get(label)
		if err == nil {
			body, err = e.NewEncoder().Bytes(body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if d.HasArg("gzip") {
		body = compress(t, body)
	}
	if cut := len(body); d.MaybeScanArgs(t, "cut", &cut) {
		body = body[:cut]
	}
	return body
}

func compress(t testing.TB, body []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return z.Bytes()
}

func show(s whole, problems []Problem) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", s.Kind)
	for _, e := range s.Entries {
		if e.Kind == SitemapEntry {
			out.WriteString("sitemap ")
		}
		out.WriteString(string(e.URL))
		if !e.LastMod.IsZero() {
			out.WriteString(" changed " + e.LastMod.Format(time.RFC3339Nano))
		}
		out.WriteString("\n")
	}
	if s.Outside > 0 {
		fmt.Fprintf(&out, "outside: %d\n", s.Outside)
	}
	for _, p := range problems {
		fmt.Fprintf(&out, "problem: %v\n", p)
	}
	return out.String()
}

func runDates(d *datadriven.TestData) string {
	var out strings.Builder
	for line := range strings.Lines(d.Input) {
		line = strings.TrimSpace(line)
		at, err := parseTime(line)
		if err != nil {
			fmt.Fprintf(&out, "%v\n", err)
			continue
		}
		fmt.Fprintf(&out, "%-34s %s\n", line, at.Format(time.RFC3339Nano))
	}
	return out.String()
}

// TestDiscover shows what pages name for programs.
func TestDiscover(t *testing.T) {
	datadriven.Walk(t, "testdata/discover", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var self string
			d.ScanArgs(t, "url", &self)
			root, err := html.Parse(strings.NewReader(d.Input))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for _, r := range Discover(page.MustParseURL(self), root, page.QueryEncoder(&page.Fetch{})) {
				fmt.Fprintln(&out, r.Relation, r.URL)
			}
			return out.String()
		})
	})
}
