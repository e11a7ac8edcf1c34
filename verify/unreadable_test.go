package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestUnreadable: what cannot be decoded is an error that names the row, not a
// difference.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		row    string
		column txn.Column
	}{
		{rowX, schema.State}, {rowX, schema.Chain}, {rowX, schema.Text}, {rowX, schema.Links}, {rowX, schema.Inverted}, {rowX, schema.Frames}, {rowX, schema.Body},
		{rowX, schema.FetchContent}, {rowX, schema.FetchTime}, {schema.PairRow(urlY, urlX), schema.Anchors},
	} {
		t.Run(fmt.Sprint(c.column), func(t *testing.T) {
			f := newFixture(t)
			f.set(c.row, c.column, []byte{0xff})
			if diff, err := f.verify(); err == nil || !strings.Contains(err.Error(), string(urlX)) {
				t.Errorf("%v, %v", diff, err)
			}
		})
	}
}
