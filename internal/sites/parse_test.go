package sites

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestParse shows what texts mean: each fetch with what a server sends for it.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata/parse", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			// The marker of an entry and the separator of datadriven look alike.
			s, err := Parse("web.txt", []byte(strings.ReplaceAll(d.Input, "~~", "--")))
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			var out strings.Builder
			if s.Comment != "" {
				fmt.Fprintf(&out, "comment %q\n", s.Comment)
			}
			for _, e := range s.entries {
				describe(&out, &e)
			}
			return out.String()
		})
	})
}

func describe(out *strings.Builder, e *entry) {
	f := &e.fetch
	fmt.Fprintf(out, "line %d: %s %s %d", e.line, f.Time.Format("2006-01-02T15:04:05.999999999Z07:00"), f.URL, f.Status)
	if f.Revisit {
		out.WriteString(" revisit")
	}
	if f.Err != "" {
		fmt.Fprintf(out, " error %q", f.Err)
	}
	out.WriteString("\n")
	describeHeader(out, "  ", f.Header)
	fmt.Fprintf(out, "  body %q\n", f.Body)
	if string(f.Body) != string(e.wireBody) {
		describeHeader(out, "  sent ", e.wireHeader)
		fmt.Fprintf(out, "  sent %d bytes\n", len(e.wireBody))
	}
}

func describeHeader(out *strings.Builder, indent string, h http.Header) {
	var lines []string
	for name, values := range h {
		lines = append(lines, fmt.Sprintf("%s%s: %s\n", indent, name, strings.Join(values, " | ")))
	}
	slices.Sort(lines)
	out.WriteString(strings.Join(lines, ""))
}

// FuzzParse looks for texts that make Parse panic, or give mistakes no line.
func FuzzParse(f *testing.F) {
	f.Add("a comment\n-- 2024-01-01 http://a.example/ --\n<p>text\n")
	f.Add("-- 2024-01-01 http://a.example/ 301 /b --\nA: b\n@coding: gzip\n@cut: 3\n\nbody")
	f.Add("-- 2024-01-01 http://a.example/ --\n@charset: koi8-r\n@bom: y\n@like: http://a.example/\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f", []byte(text))
		if err != nil {
			at, ok := errors.AsType[*Error](err)
			if !ok || at.Line < 1 || at.Line > strings.Count(text, "\n")+2 {
				t.Fatalf("no line: %v", err)
			}
			return
		}
		if len(s.Fetches()) == 0 {
			t.Fatal("no fetches and no error")
		}
	})
}
