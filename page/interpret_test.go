package page

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/page/office/officetest"
)

// TestInterpret runs testdata/interpret: a fetch is a line of arguments and a
// body, the answer is what Interpret makes of it.
//
//	interpret [url=URL] [status=N] [err] [revisit] [key] [office] [word] [read] [failed]
//	[Content-Type|Location|X-Robots-Tag|Link: value]...
//	(empty line)
//	body
//
// The URL is https://example.com/dir/page where none is given, the media type
// text/html where no Content-Type is. With word, the body is the text of a word processor's
// document. With read, the body is what was read of a PDF document, or with failed why nothing
// was. In the body, \xHH stands for a byte and
// REPEAT(N,text) for repetition.
//
// An Interpreter that remembers all bodies must say the same.
func TestInterpret(t *testing.T) {
	in := NewInterpreter(1 << 20)
	datadriven.Walk(t, "testdata/interpret", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			f := fetchOf(t, d)
			checkInterpreter(t, in, f)
			return describeDocument(Interpret(f), d.HasArg("key"))
		})
	})
}

var headerLine = regexp.MustCompile(`^(Content-Type|Location|X-Robots-Tag|Link):`)

func fetchOf(t *testing.T, d *datadriven.TestData) *Fetch {
	f := &Fetch{URL: "https://example.com/dir/page", Time: time.Unix(0, 0), Status: 200, Header: http.Header{}}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "url":
			f.URL = MustParseURL(arg.Vals[0])
		case "status":
			f.Status, _ = strconv.Atoi(arg.Vals[0])
		case "err":
			f.Err = "connection reset"
		case "revisit":
			f.Revisit = true
		case "office":
			f.Office = true
		case "read":
			f.Reading.Version = 1
		case "failed":
			f.Reading.Failed = true
		case "key", "word":
		default:
			d.Fatalf(t, "unknown argument %q", arg.Key)
		}
	}
	body := d.Input
	for headerLine.MatchString(body) {
		line, rest, _ := strings.Cut(body, "\n")
		name, value, _ := strings.Cut(line, ":")
		f.Header.Add(name, strings.TrimSpace(value))
		body = rest
	}
	body = strings.TrimPrefix(body, "\n")
	if _, ok := f.Header["Content-Type"]; !ok {
		f.Header.Set("Content-Type", "text/html")
	}
	f.Body = []byte(unescapeBody(t, body))
	if d.HasArg("word") {
		f.Body = officetest.Word("A title", string(f.Body), "../other?x=1")
	}
	return f
}

func unescapeBody(t *testing.T, s string) string {
	var b strings.Builder
	for s != "" {
		if rest, ok := strings.CutPrefix(s, "REPEAT("); ok {
			count, rest, _ := strings.Cut(rest, ",")
			text, rest, _ := strings.Cut(rest, ")")
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(strings.Repeat(text, n))
			s = rest
			continue
		}
		if strings.HasPrefix(s, `\x`) && len(s) >= 4 {
			b.WriteByte(unhex(s[2])<<4 | unhex(s[3]))
			s = s[4:]
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}

func describeDocument(d Document, withKey bool) string {
	var b strings.Builder
	b.WriteString(d.Outcome.String())
	if d.Target != "" {
		fmt.Fprintf(&b, " -> %s", d.Target)
	}
	if d.NoIndex {
		b.WriteString(" noindex")
	}
	if d.NoFollow {
		b.WriteString(" nofollow")
	}
	b.WriteByte('\n')
	for _, field := range []struct{ name, value string }{{"title", d.Title}, {"text", d.Text}, {"language", d.Language}} {
		if field.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", field.name, field.value)
		}
	}
	for _, l := range d.Links {
		fmt.Fprintf(&b, "link: %s %q\n", l.Target, l.Anchor)
	}
	for _, u := range d.Frames {
		fmt.Fprintf(&b, "frame: %s\n", u)
	}
	if withKey {
		fmt.Fprintf(&b, "key: %.8s\n", d.Key)
	}
	return b.String()
}
