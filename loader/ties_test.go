package loader_test

import (
	"fmt"
	"image/color"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/icon/icontest"
	"github.com/webindexer/indexer/page/office/officetest"
	"github.com/webindexer/indexer/pdf/pdftest"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// tieFetches draws fetches of one URL with the same time and body, which differ in status and
// header.
func tieFetches(random *mathrand.Rand) []*page.Fetch {
	bodies := []string{
		"a plan", "damaged plan", string(officetest.Word("Report", "text", "/")), string(icontest.ICO(icontest.Bitmap(16, color.Gray{Y: 9}))),
		"<title>Page</title>", `<meta http-equiv=refresh content="0; url=/b">`, "",
	}
	types := []string{pdftest.Type, officetest.WordType, "image/png", "image/x-icon", "text/html", "text/plain", "text/css", "application/x-pdf", ""}
	u := page.URL("https://a.example/" + []string{"x", "favicon.ico"}[random.IntN(2)])
	body := bodies[random.IntN(len(bodies))]
	fetches := make([]*page.Fetch, 2+random.IntN(4))
	for i := range fetches {
		h := http.Header{}
		if mediaType := types[random.IntN(len(types))]; mediaType != "" {
			h.Set("Content-Type", mediaType)
		}
		f := &page.Fetch{URL: u, Time: noon, Status: http.StatusOK, Header: h, Body: []byte(body)}
		switch random.IntN(8) {
		case 0:
			f.Status = http.StatusNotFound
		case 1:
			f.Status = http.StatusFound
			h.Set("Location", []string{"/a", "/b"}[random.IntN(2)])
		case 2:
			h.Set("Link", []string{"</a>; rel=canonical", "</b>; rel=canonical"}[random.IntN(2)])
		case 3:
			h.Set("X-Robots-Tag", "noindex")
		}
		fetches[i] = f
	}
	return fetches
}

// drawnSettings are the settings that change what is stored of a fetch.
type drawnSettings struct {
	pdf, office schema.FormatSetting
	render      schema.RenderSetting
}

func drawSettings(random *mathrand.Rand) drawnSettings {
	format := func() schema.FormatSetting {
		return []schema.FormatSetting{schema.FormatOff, schema.FormatOn}[random.IntN(2)]
	}
	return drawnSettings{format(), format(), []schema.RenderSetting{schema.RenderOff, schema.RenderAll}[random.IntN(2)]}
}

func (s drawnSettings) write(t *testing.T, r *webtest.Rig) {
	t.Helper()
	_, err := r.DB.Run(t.Context(), func(tx *txn.Txn) error {
		schema.PDFFormat.Write(tx, s.pdf)
		schema.OfficeFormat.Write(tx, s.office)
		s.render.Write(tx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// inForce describes the fetch in force of a URL: with all that is stored of it, or only what the
// settings do not change.
func inForce(t *testing.T, r *webtest.Rig, u page.URL, plainly bool) string {
	t.Helper()
	tx, err := r.DB.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var b strings.Builder
	for _, c := range []txn.Column{schema.FetchContent, schema.FetchTime, schema.Icon, schema.IconImage, schema.Body} {
		v, err := tx.Get(t.Context(), schema.URLRow(u), c)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case !plainly:
			fmt.Fprintf(&b, "%s %t %.200q\n", c, v.Exists, v.Data)
		case c == schema.FetchContent:
			f, _, err := schema.DecodeContent(v.Data)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%d %v\n", f.Status, f.Header)
		}
	}
	return b.String()
}

// TestTies: of fetches with the same time and body, the same one is in force, in whatever order
// they come, and whatever the settings are meanwhile. After all have been loaded with some
// settings, what is stored does not show which settings there were before.
func TestTies(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(40, 200, 5000))) {
		random := mathrand.New(mathrand.NewPCG(seed, 0))
		fetches, last := tieFetches(random), drawSettings(random)
		var wantPlain, want string
		for attempt := range 4 {
			r := openRig(t, webtest.Options{PDF: &pdfReader{}})
			for _, i := range random.Perm(len(fetches)) {
				drawSettings(random).write(t, r)
				mustLoad(t, r, fetches[i])
			}
			plain := inForce(t, r, fetches[0].URL, true)
			last.write(t, r)
			for _, i := range random.Perm(len(fetches)) {
				mustLoad(t, r, fetches[i])
			}
			got := inForce(t, r, fetches[0].URL, false)
			if attempt == 0 {
				wantPlain, want = plain, got
			}
			if plain != wantPlain || got != want {
				t.Fatalf("seed %d: in force are, before the last settings,\n%s\nand then\n%s\nor, in another order,\n%s\nand\n%s", seed, wantPlain, want, plain, got)
			}
		}
	}
}

// TestTieReadsNothing: a document that loses against another fetch with the same time and body
// is not read, however often it is loaded.
func TestTieReadsNothing(t *testing.T) {
	reader := &pdfReader{}
	r := openPDFs(t, reader)
	image := somePDF("a plan", noon)
	image.Header.Set("Content-Type", "image/vnd.microsoft.icon") // after PDF in the order of headers
	document := somePDF("a plan", noon)
	for _, f := range slices.Repeat([]*page.Fetch{image, document}, 3) {
		mustLoad(t, r, f)
	}
	if reader.total() != 0 {
		t.Errorf("it was read %d times", reader.total())
	}
}
