package observers

import (
	"errors"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// TestTextTooLong: a text that could not be read again is not written. Reading it would stop the
// observers, because it would count as damage.
func TestTextTooLong(t *testing.T) {
	doc := &page.Document{Outcome: page.Page, Text: strings.Repeat("ก", 90<<20)}
	err := writeText(new(txn.Txn), "row", doc, schema.URLState{}, schema.URLState{Outcome: page.Page})
	if !errors.Is(err, store.ErrTooLarge) {
		t.Error(err)
	}
}
