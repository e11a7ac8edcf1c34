package schema

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// FormatSetting says whether documents of a format are pages in a repository. Each of the
// Formats has a column for it, which is absent while the setting is off.
type FormatSetting string

// The settings.
const (
	FormatOff FormatSetting = ""
	FormatOn  FormatSetting = "on"
	// FormatOnSoon counts as on, and FormatOffSoon as off, while the program adapts stored
	// fetches.
	FormatOnSoon  FormatSetting = "on soon"
	FormatOffSoon FormatSetting = "off soon"
)

// Holds reports whether documents that are loaded now are pages.
func (s FormatSetting) Holds() bool { return s == FormatOn || s == FormatOnSoon }

// Format is a format whose documents are pages only with a setting.
type Format struct {
	Name    string // name of its documents, in the plural
	Setting txn.Column
	// Is reports whether a response is a document of the format.
	Is func(*page.Fetch) bool
	// IsPage reports whether the fetch of a document is read as a page. Forget makes it what it
	// would be if the setting had been off when it was loaded.
	IsPage func(*page.Fetch) bool
	Forget func(*page.Fetch)
}

// The formats.
var (
	OfficeFormat = Format{
		Name: "office documents", Setting: Office, Is: (*page.Fetch).IsOffice,
		IsPage: func(f *page.Fetch) bool { return f.Office },
		Forget: func(f *page.Fetch) { f.Office = false },
	}
	PDFFormat = Format{
		Name: "PDF documents", Setting: PDF, Is: (*page.Fetch).IsPDF,
		IsPage: func(f *page.Fetch) bool { return f.Reading.Exists() },
		Forget: func(f *page.Fetch) { f.Reading = page.Reading{} },
	}
)

// MayBeDocument reports, without decoding it, whether the content of a fetch can be that of a
// document of one of the Formats.
func MayBeDocument(content []byte) bool {
	status, n := binary.Uvarint(content)
	return n > 0 && status >= asOffice
}

// Read reads the setting of a repository.
func (f *Format) Read(ctx context.Context, tx *txn.Txn) (FormatSetting, error) {
	v, err := tx.Get(ctx, AppRow, f.Setting)
	if err != nil {
		return FormatOff, err
	}
	switch s := FormatSetting(v.Data); s {
	case FormatOff, FormatOn, FormatOnSoon, FormatOffSoon:
		return s, nil
	default:
		return FormatOff, fmt.Errorf("schema: setting of %s %.20q: %w", f.Name, v.Data, store.ErrCorrupt)
	}
}

// Write writes the setting of a repository.
func (f *Format) Write(tx *txn.Txn, s FormatSetting) {
	if s == FormatOff {
		tx.Delete(AppRow, f.Setting)
		return
	}
	tx.Set(AppRow, f.Setting, []byte(s))
}

// Without returns the content of a fetch as if the setting had been off when it was loaded,
// and reports whether it differs.
func (f *Format) Without(content []byte) ([]byte, bool, error) {
	decoded, sum, err := DecodeContent(content)
	if err != nil || !f.IsPage(&decoded) {
		return content, false, err
	}
	f.Forget(&decoded)
	return EncodeContent(&decoded, sum), true, nil
}
