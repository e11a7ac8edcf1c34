package repository_test

import (
	"testing"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
)

// TestUnreadable: documents without a text that can be read are counted, in the repository and
// since the process began, as long as they are documents.
func TestUnreadable(t *testing.T) {
	dir, web := t.TempDir(), append(pdfDocuments.web(), officeDocuments.web()...)
	r := open(t, dir, repository.Options{PDF: new(true), Office: new(true), PDFReader: plainReader{}, Workers: 1})
	load(t, r, 1, web)
	one := observers.Unreadable{PDF: 1, Office: 1}
	if got := statsOf(t, r).Unreadable; got != one {
		t.Errorf("stats count %+v", got)
	}
	if got := r.Sample().Unreadable; got != one {
		t.Errorf("since the process began: %+v", got)
	}
	closeNow(t, r)

	r = open(t, dir, repository.Options{PDFReader: plainReader{}, Workers: 1})
	load(t, r, 1, web) // which changes nothing
	if got := statsOf(t, r).Unreadable; got != one {
		t.Errorf("stats of the next process count %+v", got)
	}
	if got := r.Sample().Unreadable; got != (observers.Unreadable{}) {
		t.Errorf("since the next process began: %+v", got)
	}
	closeNow(t, r)

	r = open(t, dir, repository.Options{Office: new(false), Workers: 1})
	defer closeNow(t, r)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := statsOf(t, r).Unreadable; got != (observers.Unreadable{PDF: 1}) {
		t.Errorf("without office documents stats count %+v", got)
	}
}
