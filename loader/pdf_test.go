package loader_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/pdf"
	"github.com/webindexer/indexer/pdf/pdftest"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// pdfReader is a loader.PDFReader that reads made-up documents, and counts how often.
type pdfReader struct {
	version int
	broken  error
	during  func() // is called while a document is read
	mu      sync.Mutex
	reads   map[string]int
}

func (r *pdfReader) Version() int { return max(r.version, 1) }

func (r *pdfReader) Read(_ context.Context, body []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reads == nil {
		r.reads = make(map[string]int)
	}
	r.reads[string(body)]++
	if r.during != nil {
		r.during()
	}
	switch {
	case r.broken != nil:
		return nil, r.broken
	case bytes.HasPrefix(body, []byte("damaged")):
		return nil, pdf.Unreadable("it is damaged")
	}
	return fmt.Appendf(nil, "<title>version %d</title><p>%s", r.Version(), body), nil
}

func (r *pdfReader) total() (n int) {
	for _, reads := range r.reads {
		n += reads
	}
	return n
}

// openPDFs returns a rig that has the setting on.
func openPDFs(t *testing.T, reader loader.PDFReader) *webtest.Rig {
	t.Helper()
	r := openRig(t, webtest.Options{PDF: reader})
	setPDFs(t, r, schema.FormatOn)
	return r
}

func setPDFs(t *testing.T, r *webtest.Rig, to schema.FormatSetting) {
	t.Helper()
	_, err := r.DB.Run(t.Context(), func(tx *txn.Txn) error {
		schema.PDFFormat.Write(tx, to)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func somePDF(body string, at time.Time) *page.Fetch {
	f := somePage("", at)
	f.Header, f.Body = http.Header{"Content-Type": {pdftest.Type}}, []byte(body)
	return f
}

// stored returns the fetch in force of the only URL, with its body.
func stored(t *testing.T, r *webtest.Rig) page.Fetch {
	t.Helper()
	tx, err := r.DB.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	row := schema.URLRow(somePage("", noon).URL)
	content, err := tx.Get(t.Context(), row, schema.FetchContent)
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := schema.DecodeContent(content.Data)
	if err != nil {
		t.Fatal(err)
	}
	body, err := tx.Get(t.Context(), row, schema.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body.Exists {
		if f.Body, err = schema.DecodeBody(body.Data); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// TestPDFReadOnce: a document is read once, however often its bytes come.
func TestPDFReadOnce(t *testing.T) {
	reader := &pdfReader{}
	r := openPDFs(t, reader)
	for i, c := range []struct {
		f     *page.Fetch
		want  loader.Effect
		reads int
	}{
		{somePDF("a plan", noon), loader.Changed, 1},
		{somePDF("a plan", noon), loader.Late, 1},
		{somePDF("a plan", noon.Add(2)), loader.Renewed, 1},
		{somePDF("an older plan", noon.Add(1)), loader.Late, 1},
		{somePDF("a plan", noon.Add(1)), loader.Late, 1},
		{somePDF("a newer plan", noon.Add(3)), loader.Changed, 2},
		{somePDF("damaged", noon.Add(4)), loader.Changed, 3},
		{somePDF("damaged", noon.Add(5)), loader.Renewed, 3},
		{somePage("no plan", noon.Add(6)), loader.Changed, 3},
	} {
		if got := mustLoad(t, r, c.f); got != c.want || reader.total() != c.reads {
			t.Errorf("%d: %s after %d readings, want %s after %d", i, got, reader.total(), c.want, c.reads)
		}
	}
}

// TestPDFStored: the text of a document is stored in place of the body, and stays when only
// a header changes.
func TestPDFStored(t *testing.T) {
	r := openPDFs(t, &pdfReader{})
	mustLoad(t, r, somePDF("a plan", noon))
	const html = "<title>version 1</title><p>a plan"
	if f := stored(t, r); string(f.Body) != html || !f.Reading.Exists() || f.Reading.Failed {
		t.Errorf("%+v %q", f.Reading, f.Body)
	}
	again := somePDF("a plan", noon.Add(1))
	again.Header.Set("X-Robots-Tag", "noindex")
	if got := mustLoad(t, r, again); got != loader.Changed {
		t.Error(got)
	}
	if f := stored(t, r); string(f.Body) != html || f.Header.Get("X-Robots-Tag") != "noindex" {
		t.Errorf("%v %q", f.Header, f.Body)
	}
	mustLoad(t, r, somePDF("damaged", noon.Add(2)))
	if f := stored(t, r); string(f.Body) != "it is damaged" || !f.Reading.Failed {
		t.Errorf("%+v %q", f.Reading, f.Body)
	}
}

// TestPDFVersion: another version of the reader reads a document again, and an older one does
// not.
func TestPDFVersion(t *testing.T) {
	first := &pdfReader{}
	r := openPDFs(t, first)
	mustLoad(t, r, somePDF("a plan", noon))
	second := &pdfReader{version: 2}
	r.SetPDF(second)
	if got := mustLoad(t, r, somePDF("a plan", noon)); got != loader.Changed {
		t.Error(got)
	}
	r.SetPDF(first)
	if got := mustLoad(t, r, somePDF("a plan", noon.Add(1))); got != loader.Renewed || first.total() != 1 || second.total() != 1 {
		t.Errorf("%s after %d and %d readings", got, first.total(), second.total())
	}
	if f := stored(t, r); string(f.Body) != "<title>version 2</title><p>a plan" {
		t.Errorf("%q", f.Body)
	}
}

// TestPDFOff: without the setting, or without a reader, documents are not read, and are
// stored as before.
func TestPDFOff(t *testing.T) {
	reader := &pdfReader{}
	off := openRig(t, webtest.Options{PDF: reader})
	mustLoad(t, off, somePDF("a plan", noon))
	none := openPDFs(t, nil)
	mustLoad(t, none, somePDF("a plan", noon))
	if a, b := stored(t, off), stored(t, none); a.Reading.Exists() || b.Reading.Exists() || a.Body != nil || b.Body != nil || reader.total() != 0 {
		t.Errorf("%+v %+v, %d readings", a, b, reader.total())
	}
}

// TestPDFSettingChanges: a load follows the setting at its commit.
func TestPDFSettingChanges(t *testing.T) {
	reader := &pdfReader{}
	r := openPDFs(t, reader)
	reader.during = func() { setPDFs(t, r, schema.FormatOffSoon) }
	mustLoad(t, r, somePDF("a plan", noon))
	if f := stored(t, r); f.Reading.Exists() || f.Body != nil {
		t.Errorf("%+v", f)
	}
}

// TestPDFReaderBroken: if no document can be read, the load fails, and can be repeated.
func TestPDFReaderBroken(t *testing.T) {
	reader := &pdfReader{broken: errors.New("no child can be started")}
	r := openPDFs(t, reader)
	if _, err := r.Load(t.Context(), somePDF("a plan", noon)); !errors.Is(err, reader.broken) {
		t.Error(err)
	}
	reader.broken = nil
	if got := mustLoad(t, r, somePDF("a plan", noon)); got != loader.Changed {
		t.Error(got)
	}
}

// TestPDFTie: of fetches with the same time and body, the same one decides in every order.
func TestPDFTie(t *testing.T) {
	html, hidden := somePage("", noon), somePDF("a plan", noon)
	html.Body = []byte("a plan")
	hidden.Header.Set("Link", "</plan>; rel=canonical")
	all := []*page.Fetch{somePDF("a plan", noon), html, hidden}
	var inForce []string
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		r := openPDFs(t, &pdfReader{})
		for _, i := range order {
			mustLoad(t, r, all[i])
		}
		f := stored(t, r)
		inForce = append(inForce, fmt.Sprintf("%v %+v %q", f.Header, f.Reading, f.Body))
	}
	for _, got := range inForce[1:] {
		if got != inForce[0] {
			t.Errorf("in force: %s, or %s", inForce[0], got)
		}
	}
}
