package schema

import (
	"math"

	"github.com/webindexer/indexer/page"
)

func (e enc) reading(r page.Reading) enc {
	return append(e.uint(uint64(r.Version)).byte(flags(r.Failed)), r.Sum[:]...)
}

func (d dec) reading() page.Reading {
	version, failed := d.Uint(), d.Uint()
	if version == 0 || version > math.MaxInt32 || failed > 1 {
		d.Fail()
	}
	return page.Reading{Version: int(version), Failed: failed == 1, Sum: d.array32()}
}
