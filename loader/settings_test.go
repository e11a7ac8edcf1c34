package loader_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/office/officetest"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestSettingsOfTheRepository: the settings of the repository at the load, and not the fetch,
// decide what a fetch means and whether its body is kept. The fetch is always the same.
func TestSettingsOfTheRepository(t *testing.T) {
	write := func(r *webtest.Rig, office schema.FormatSetting, render schema.RenderSetting) {
		t.Helper()
		if _, err := r.DB.Run(t.Context(), func(tx *txn.Txn) error {
			schema.OfficeFormat.Write(tx, office)
			tx.Set(schema.AppRow, schema.Render, []byte(render))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		mediaType        string
		office, resource bool // with the setting on
	}{
		{officetest.WordType, true, false},
		{"text/css", false, true},
	} {
		for _, says := range []bool{false, true} { // what the fetch says about itself
			r := openRig(t, webtest.Options{})
			at := noon
			load := func(on bool) {
				t.Helper()
				f := somePage(at.String(), at)
				f.Header = http.Header{"Content-Type": {c.mediaType}}
				f.Office, f.Resource = says && c.office, says && c.resource
				if e := mustLoad(t, r, f); e != loader.Changed {
					t.Errorf("%s, on %t: %v", c.mediaType, on, e)
				}
				got := stored(t, r)
				if got.Office != (on && c.office) || got.Resource != (on && c.resource) || (got.Body != nil) != on {
					t.Errorf("%s, on %t: stored as office %t, resource %t, body of %d bytes", c.mediaType, on, got.Office, got.Resource, len(got.Body))
				}
				if e := mustLoad(t, r, f); e != loader.Late {
					t.Errorf("%s, on %t, once more: %v", c.mediaType, on, e)
				}
				at = at.Add(time.Hour)
			}
			load(false)
			write(r, schema.FormatOn, schema.RenderAll)
			load(true)
			write(r, schema.FormatOff, schema.RenderOff)
			load(false)
		}
	}
}

// TestSettingTurnedOffMeanwhile: a load that saw a setting on does not commit once it is off.
func TestSettingTurnedOffMeanwhile(t *testing.T) {
	office := somePage("", noon)
	office.Header, office.Body = http.Header{"Content-Type": {officetest.WordType}}, officetest.Word("Report", "text", "/")
	for _, f := range []*page.Fetch{office, somePDF("a plan", noon)} {
		r := openRig(t, webtest.Options{})
		drawnSettings{schema.FormatOn, schema.FormatOn, schema.RenderOff}.write(t, r)
		l := loader.New(r.DB, admitAll{}, func(string) {})
		l.PDF = &pdfReader{}
		attempts := 0
		_, err := l.LoadAnd(t.Context(), f, func(context.Context, *txn.Txn, loader.Effect) error {
			if attempts++; attempts == 1 {
				drawnSettings{schema.FormatOff, schema.FormatOff, schema.RenderOff}.write(t, r)
			}
			return nil
		})
		if err != nil || attempts != 2 {
			t.Errorf("%s: %d attempts, %v; want 2", f.Header.Get("Content-Type"), attempts, err)
		}
	}
}

// TestLoadAnd: what is done with a fetch and the fetch are in the table together or not at all, and
// the row is named before the commit if its content changes.
func TestLoadAnd(t *testing.T) {
	r := openRig(t, webtest.Options{})
	changed := 0
	l := loader.New(r.DB, admitAll{}, func(row string) {
		if row != schema.URLRow(somePage("", noon).URL) {
			t.Errorf("%q has changed", row)
		}
		changed++
	})
	refuse := errors.New("not now")
	no := func(context.Context, *txn.Txn, loader.Effect) error { return refuse }
	if _, err := l.LoadAnd(t.Context(), somePage("alpha", noon), no); !errors.Is(err, refuse) {
		t.Errorf("LoadAnd returns %v", err)
	}
	changed = 0
	for i, c := range []struct {
		f       *page.Fetch
		want    loader.Effect
		changed int
	}{
		{somePage("alpha", noon), loader.Changed, 1}, // so it was not there
		{somePage("alpha", noon), loader.Late, 1},
		{somePage("alpha", noon.Add(time.Hour)), loader.Renewed, 1},
		{somePage("beta", noon.Add(2*time.Hour)), loader.Changed, 2},
	} {
		told := loader.Effect(-1)
		e, err := l.LoadAnd(t.Context(), c.f, func(_ context.Context, _ *txn.Txn, e loader.Effect) error { told = e; return nil })
		if err != nil || e != c.want || told != c.want || changed != c.changed {
			t.Errorf("load %d: %v, told %v, %v, and %d changes; want %v, %d", i, e, told, err, changed, c.want, c.changed)
		}
	}
}
