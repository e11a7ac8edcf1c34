package repository_test

import (
	"testing"

	"github.com/webindexer/indexer/page/office/officetest"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
)

// officeDocuments are documents of Word.
var officeDocuments = documents{
	format: &schema.OfficeFormat, mediaType: officetest.WordType,
	plan: "https://port.example/plan.docx", damaged: "https://port.example/damaged.docx",
	make: officetest.Word,
	rot:  func(b []byte) []byte { return b[:len(b)/2] },
	with: func(setting *bool) repository.Options { return repository.Options{Office: setting} },
	off:  "the setting office was off",
	why:  "an office document without a text that can be read: the document is damaged",
}

func TestOfficeOff(t *testing.T) { officeDocuments.testOff(t) }

func TestOffice(t *testing.T) { officeDocuments.testOrders(t, func(*repository.Repository) {}) }

func TestOfficeSwitched(t *testing.T) { officeDocuments.testSwitched(t) }

func TestOfficeSwitchInterrupted(t *testing.T) { officeDocuments.testInterrupted(t) }
