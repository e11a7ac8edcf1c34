package page

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
)

// TestOutline runs testdata/outline: the body of a page, and its text divided into main
// content and the rest, its sections and its alternates.
func TestOutline(t *testing.T) {
	datadriven.Walk(t, "testdata/outline", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			doc := Interpret(fetchOf(t, d))
			return describeOutline(t, &doc)
		})
	})
}

// TestManySections: of too many sections, the first ones count. Otherwise the outline could not be decoded.
func TestManySections(t *testing.T) {
	d := Interpret(htmlFetch("https://a.example/", strings.Repeat("<h2 id=a>b</h2>", MaxSections+1)))
	o, err := DecodeOutline(d.Outline, len(d.Text))
	if err != nil || len(o.Sections) != MaxSections {
		t.Errorf("%d sections, %v", len(o.Sections), err)
	}
}

func describeOutline(t *testing.T, doc *Document) string {
	o, err := DecodeOutline(doc.Outline, len(doc.Text))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	line := func(kind string, start, end int) {
		if s := strings.TrimSpace(doc.Text[start:end]); s != "" {
			fmt.Fprintf(&b, "%s: %s\n", kind, s)
		}
	}
	at := 0
	for _, r := range o.Main {
		line("rest", at, r.Start)
		line("main", r.Start, r.End)
		at = r.End
	}
	if o.Main == nil {
		line("all", at, len(doc.Text))
	} else {
		line("rest", at, len(doc.Text))
	}
	for _, s := range o.Sections {
		fmt.Fprintf(&b, "section %d: #%s %s\n", s.Level, s.ID, doc.Text[s.Title.Start:s.Title.End])
	}
	for _, a := range o.Alternates {
		fmt.Fprintf(&b, "alternate: %s %s\n", a.Language, a.URL)
	}
	return b.String()
}

// checkOutline checks what is promised of the outline of every document.
func checkOutline(t *testing.T, doc *Document) {
	t.Helper()
	o, err := DecodeOutline(doc.Outline, len(doc.Text))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Main) > MaxMainRanges || len(o.Sections) > MaxSections || len(o.Alternates) > MaxAlternates {
		t.Errorf("%d ranges, %d sections, %d alternates", len(o.Main), len(o.Sections), len(o.Alternates))
	}
	last := -1
	for _, r := range o.Main {
		if r.Start <= last || r.End <= r.Start || !utf8.ValidString(doc.Text[r.Start:r.End]) {
			t.Errorf("main content %v of %q", o.Main, doc.Text)
		}
		last = r.End
	}
	for _, s := range o.Sections {
		if title := doc.Text[s.Title.Start:s.Title.End]; title == "" || s.ID == "" || strings.TrimSpace(title) != title || !utf8.ValidString(title) || s.Level < 1 || s.Level > termLevel {
			t.Errorf("section %+v %q", s, title)
		}
	}
	for _, a := range o.Alternates {
		if normaliseLanguage(a.Language) != a.Language {
			t.Errorf("alternate %+v", a)
		}
		checkCanonical(t, a.URL)
	}
}

// FuzzDecodeOutline checks that damage is refused and never leads out of the text, and that
// what is accepted has one form.
func FuzzDecodeOutline(f *testing.F) {
	o := Outline{
		Main:       []Range{{0, 3}, {5, 300}},
		Sections:   []Section{{"a", Range{0, 3}, 2}, {"日", Range{200, 201}, termLevel}},
		Alternates: []Alternate{{"pt-br", "https://example.com/"}},
	}
	f.Add(o.Encode(), 300)
	f.Add(o.Encode(), 299)
	f.Add("", 0)
	f.Add("\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", min(1<<40, math.MaxInt))
	f.Fuzz(func(t *testing.T, s string, textLen int) {
		if textLen < 0 {
			return
		}
		o, err := DecodeOutline(s, textLen)
		if err != nil {
			return
		}
		for _, r := range o.Main {
			if r.Start < 0 || r.End < r.Start || r.End > textLen {
				t.Fatalf("%v in %d bytes", r, textLen)
			}
		}
		for _, s := range o.Sections {
			if s.Title.Start < 0 || s.Title.End < s.Title.Start || s.Title.End > textLen {
				t.Fatalf("%v in %d bytes", s, textLen)
			}
		}
		if again, err := DecodeOutline(o.Encode(), textLen); err != nil || !reflect.DeepEqual(o, again) {
			t.Fatalf("%+v\n%+v %v", o, again, err)
		}
	})
}

func TestRanges(t *testing.T) {
	text := []byte("0123456789 | abc")
	for _, c := range []struct {
		name      string
		got, want ranges
	}{
		{"without", ranges{{0, 10}}.without(ranges{{2, 4}, {6, 7}}), ranges{{0, 2}, {4, 6}, {7, 10}}},
		{"without across two", ranges{{0, 4}, {6, 10}}.without(ranges{{3, 7}}), ranges{{0, 3}, {7, 10}}},
		{"without all", ranges{{1, 4}, {6, 10}}.without(ranges{{0, 16}}), nil},
		{"enclose", ranges{{0, 2}, {3, 4}, {5, 6}}.enclose(Range{3, 8}), ranges{{0, 2}, {3, 8}}},
		{"enclose nothing", ranges{{0, 2}}.enclose(Range{2, 2}), ranges{{0, 2}}},
		{"trimmed", ranges{{0, 11}, {11, 13}, {12, 16}}.trimmed(text), ranges{{0, 10}, {13, 16}}},
		{"joined", ranges{{0, 2}, {3, 4}, {8, 9}, {11, 12}}.joined(2), ranges{{0, 4}, {8, 12}}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if rs := (ranges{{2, 4}, {6, 8}}); rs.has(1) || !rs.has(2) || rs.has(4) || !rs.has(7) || rs.has(8) {
		t.Error("has")
	}
}
