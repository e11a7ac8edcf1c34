package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

const renderedWeb = `
https://a.example/0 at=1 page text=alpha title=X lang=en
https://a.example/6 at=1 page text=beta title=Y lang=en
https://a.example/gone at=1 gone
`

const (
	renderedURL = page.URL("https://a.example/0")
	goneURL     = page.URL("https://a.example/gone")
)

// renderedFixture returns a web whose pages are all rendered.
func renderedFixture(t *testing.T) *fixture {
	t.Helper()
	return fixtureOf(t, renderedWeb, webtest.Options{Render: schema.RenderAll, Browser: &webtest.Browser{URLs: 9}})
}

// TestDamagedForms: what is wrong with rendered forms is found, and nothing else is.
func TestDamagedForms(t *testing.T) {
	f := renderedFixture(t)
	row, url := schema.URLRow(renderedURL), string(renderedURL)
	stored, err := schema.DecodeForm(f.get(row, schema.Form))
	if err != nil || len(stored.Inputs) == 0 || stored.HTML == nil {
		t.Fatalf("%+v, %v; want a form with inputs", stored, err)
	}
	needed := stored.Inputs[0].URL
	form := func(change func(*schema.StoredForm)) []byte {
		other := stored
		other.Inputs = slices.Clone(stored.Inputs)
		change(&other)
		return other.Encode()
	}
	exists := []byte{}
	for _, d := range []struct {
		name     string
		row      string
		column   txn.Column
		old, now []byte // nil: absent
		want     string // "": nothing
	}{
		{"nothing", row, schema.Form, stored.Encode(), stored.Encode(), ""},
		{"form of another fetch", row, schema.Form, stored.Encode(), form(func(s *schema.StoredForm) { s.Page[0]++ }), "render " + url + " form (page)"},
		{"form for another reason", row, schema.Form, stored.Encode(), form(func(s *schema.StoredForm) { s.Why = "?" }), "render " + url + " form (why)"},
		{"input of another fetch", row, schema.Form, stored.Encode(), form(func(s *schema.StoredForm) { s.Inputs[0].Content[0]++ }), "render " + url + " form (input)"},
		{"input gone", row, schema.Form, stored.Encode(), form(func(s *schema.StoredForm) { s.Inputs = s.Inputs[1:] }), "need " + url + " -> " + string(needed) + " x"},
		{"stale input", row, schema.Form, stored.Encode(), form(func(s *schema.StoredForm) { s.Stale = []page.URL{goneURL} }), "render " + url + " form (stale inputs)"},
		{"document and failure", row, schema.Form, stored.Encode(), form(func(s *schema.StoredForm) { s.Failure = "?" }), "render " + url + " form (document)"},
		{"form of no page", schema.URLRow(goneURL), schema.Form, nil, schema.StoredForm{Failure: "?"}.Encode(), "render " + string(goneURL) + " form"},
		{"form of nothing", rowNew, schema.Form, nil, schema.StoredForm{Failure: "?"}.Encode(), "render https://a.example/new form"},
		{"need gone", schema.PairRow(needed, renderedURL), schema.Need, exists, nil, "need " + url + " -> " + string(needed) + " x"},
		{"need of nothing", schema.PairRow(needed, goneURL), schema.Need, nil, exists, "need " + string(goneURL) + " -> " + string(needed) + " x"},
		{"picture of nothing", schema.URLRow(goneURL), schema.Thumbnail, nil, []byte{1}, "shot " + string(goneURL) + " thumb"},
		{"another picture than in the index", row, schema.Thumbnail, f.get(row, schema.Thumbnail), []byte("another"), "index files " + url + " thumbnail"},
		{"pages that were not told", row, schema.Invalidated, nil, schema.StoredPropagation{Chain: 1}.Encode(), "render " + url + " told"},
	} {
		f.set(d.row, d.column, d.now)
		got, err := f.verify()
		switch {
		case err != nil:
			t.Fatalf("%s: %v", d.name, err)
		case d.want == "" && len(got) > 0,
			d.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], d.want+": stored ")):
			t.Errorf("%s: %q, want %q", d.name, got, d.want)
		}
		f.set(d.row, d.column, d.old)
	}

	// Without its form, the page also has the wrong document.
	f.set(row, schema.Form, nil)
	f.wantAmong("form gone", "render "+url+" form: stored nothing, computed a form")
	// A form says what it failed of, and has no picture.
	f.set(row, schema.Form, form(func(s *schema.StoredForm) { s.HTML = nil }))
	f.wantAmong("neither document nor failure", "render "+url+" form (document): stored 0 bytes, failure \"\"")
	f.set(row, schema.Form, form(func(s *schema.StoredForm) { s.HTML, s.Failure = nil, "?" }))
	f.set(row, schema.Thumbnail, []byte{1})
	f.wantAmong("picture of a failed form", "shot "+url+" thumb: stored a picture")
	f.set(row, schema.Form, []byte{1, 2})
	if got, err := f.verify(); err == nil || !strings.Contains(err.Error(), url) {
		t.Errorf("form unreadable: %v, %q", err, got)
	}
	f.set(row, schema.Form, stored.Encode())
	f.set(row, schema.Thumbnail, nil)
	f.editFileOf(renderedURL, func(c *index.Change) { c.Thumbnail = []byte{1} })
	f.wantAmong("picture only in the index", "index files "+url+" thumbnail")
	// While the setting is off, nothing of this may be there.
	f.set(schema.AppRow, schema.Render, nil)
	f.wantAmong("setting off", "render "+url+" form: stored a form, computed nothing")
}

// wantAmong checks that verify reports a difference, perhaps among others.
func (f *fixture) wantAmong(what, want string) {
	f.t.Helper()
	got, err := f.verify()
	if err != nil || !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
		f.t.Errorf("%s: %v, %q; want %q", what, err, got, want)
	}
}
