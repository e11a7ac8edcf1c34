package schema

import (
	"math"

	"github.com/webindexer/indexer/page"
)

// asOffice is added to the status of an office document that is a page (EncodeContent), and
// asReading to that of a document of which there is a reading. That follows the headers.
const (
	asOffice  = 1 << 20
	asReading = 1 << 22
)

func (e enc) reading(r page.Reading) enc {
	failed := uint64(0)
	if r.Failed {
		failed = 1
	}
	return append(e.uint(uint64(r.Version)).uint(failed), r.Sum[:]...)
}

func (d dec) reading() page.Reading {
	version, failed := d.Uint(), d.Uint()
	if version == 0 || version > math.MaxInt32 || failed > 1 {
		d.Fail()
	}
	return page.Reading{Version: int(version), Failed: failed == 1, Sum: d.array32()}
}
