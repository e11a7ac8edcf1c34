package repository_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/pdf"
	"github.com/webindexer/indexer/pdf/pdftest"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

// plainReader treats documents as HTML.
type plainReader struct{}

func (plainReader) Version() int { return 1 }

func (plainReader) Read(_ context.Context, body []byte) ([]byte, error) {
	html, found := bytes.CutPrefix(body, []byte("%PDF "))
	if !found {
		return nil, pdf.Unreadable("it is damaged")
	}
	return html, nil
}

// pdfDocuments are documents for plainReader.
var pdfDocuments = documents{
	format: &schema.PDFFormat, mediaType: pdftest.Type,
	plan: "https://port.example/plan.pdf", damaged: "https://port.example/damaged.pdf",
	make: func(title, text, link string) []byte {
		if link != "" {
			text = "<a href=" + link + ">the port</a> " + text
		}
		return []byte("%PDF <title>" + title + "</title>" + text)
	},
	rot: func(b []byte) []byte { return b[1:] },
	with: func(setting *bool) repository.Options {
		return repository.Options{PDF: setting, PDFReader: plainReader{}}
	},
	off: "the setting pdf was off",
	why: "a PDF document without a text that can be read: it is damaged",
}

func TestPDFOff(t *testing.T) { pdfDocuments.testOff(t) }

// TestPDF also checks the stored copy, which needs no reader.
func TestPDF(t *testing.T) {
	pdfDocuments.testOrders(t, func(r *repository.Repository) {
		f, err := inspect.Copy(t.Context(), r.DB(), pdfDocuments.plan, 0)
		if err != nil {
			t.Fatal(err)
		}
		if text, html, ok := page.BodyText(f); !html || !ok || !strings.HasPrefix(text, "<title>Plan") {
			t.Errorf("stored copy %q", text)
		}
	})
}

func TestPDFSwitched(t *testing.T) { pdfDocuments.testSwitched(t) }

func TestPDFSwitchInterrupted(t *testing.T) { pdfDocuments.testInterrupted(t) }

// TestPDFShared: on a table that several processes share, the loader has documents read, and
// workers need no reader. The worker that takes the lease turns the setting on.
func TestPDFShared(t *testing.T) {
	want := pdfDocuments.undisturbed(t)
	f := newFleet(t)
	worker := f.joinWith(repository.Options{PDF: new(true)}, true, observers.LeaseRank, observers.LeaseIndex)
	for !holdsPDF(t, worker.Repository) {
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("nobody turned the setting on")
		}
	}
	loader := f.joinWith(repository.Options{PDFReader: plainReader{}}, false)
	load(t, loader.Repository, 2, pdfDocuments.web())
	wantAlike(t, want, worker, loader)
	wantOutcome(t, worker.Repository, pdfDocuments.plan, "page", "")
	for _, m := range []*member{worker, loader} {
		closeNow(t, m.Repository)
	}
}

func holdsPDF(t *testing.T, r *repository.Repository) bool {
	t.Helper()
	tx, err := r.DB().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	s, err := schema.PDFFormat.Read(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	return s.Holds()
}

// TestPDFDamaged: verify finds what was read and then changed.
func TestPDFDamaged(t *testing.T) {
	r := pdfDocuments.open(t, t.TempDir(), new(true), 1)
	defer closeNow(t, r)
	load(t, r, 1, pdfDocuments.web())
	write(t, r, func(tx *txn.Txn) {
		tx.Set(schema.URLRow(pdfDocuments.plan), schema.Body, schema.EncodeBody([]byte("<title>Forged</title>")))
	})
	rep, err := verify.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(rep.Differences); !strings.Contains(got, "(digest)") {
		t.Errorf("verify found %s", got)
	}
}
