package schema

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// OfficeSetting says whether office documents are pages in a repository. It is stored in the
// column Office, and absent while it is off.
type OfficeSetting string

// The settings.
const (
	OfficeOff OfficeSetting = ""
	OfficeOn  OfficeSetting = "on"
	// OfficeOnSoon is on, and OfficeOffSoon is off, while what was stored before is adapted.
	OfficeOnSoon  OfficeSetting = "on soon"
	OfficeOffSoon OfficeSetting = "off soon"
)

// Holds reports whether office documents that are loaded now are pages.
func (s OfficeSetting) Holds() bool { return s == OfficeOn || s == OfficeOnSoon }

// ReadOffice reads the setting of a repository.
func ReadOffice(ctx context.Context, tx *txn.Txn) (OfficeSetting, error) {
	v, err := tx.Get(ctx, AppRow, Office)
	if err != nil {
		return OfficeOff, err
	}
	switch s := OfficeSetting(v.Data); s {
	case OfficeOff, OfficeOn, OfficeOnSoon, OfficeOffSoon:
		return s, nil
	default:
		return OfficeOff, fmt.Errorf("schema: setting of office documents %.20q: %w", v.Data, store.ErrCorrupt)
	}
}

// Write writes the setting of a repository.
func (s OfficeSetting) Write(tx *txn.Txn) {
	if s == OfficeOff {
		tx.Delete(AppRow, Office)
		return
	}
	tx.Set(AppRow, Office, []byte(s))
}

// asOffice is added to the status of an office document that is a page (EncodeContent).
const asOffice = 1 << 20

// WithoutOffice returns the content of a fetch as if the setting had been off when it was
// loaded, and whether that is another one.
func WithoutOffice(content []byte) ([]byte, bool, error) {
	f, sum, err := DecodeContent(content)
	if err != nil || !f.Office {
		return content, false, err
	}
	f.Office = false
	return EncodeContent(&f, sum), true, nil
}
