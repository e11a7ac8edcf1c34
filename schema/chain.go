package schema

import (
	"indexer/page"
)

// Hop is one URL on the way to a terminal, with what decides there.
type Hop struct {
	URL     page.URL
	Outcome page.Outcome // Page or Redirect; on the last hop also Unfetched, for anything that is neither
	NoIndex bool
	Key     page.ContentKey // of a page
}

// StoredChain is the way from a URL: the URL itself, where that leads, and so
// on. It ends with a page that leads nowhere, with a redirect's target that is
// neither page nor redirect, with the first URL that is on it already (a loop),
// or when it is MaxChain hops long.
type StoredChain []Hop

// MaxHops is how far a URL is followed to its terminal (semantics.md section 4).
const MaxHops = 10

// MaxChain is how many URLs of a chain are kept: enough to know that there are
// more than MaxHops hops.
const MaxChain = MaxHops + 2

// Encode for Chain.
func (w StoredChain) Encode() []byte {
	e := enc(nil).uint(uint64(len(w)))
	for _, h := range w {
		e = e.string(string(h.URL)).byte(byte(h.Outcome)).byte(flags(h.NoIndex))
		if h.Outcome == page.Page {
			e = append(e, h.Key[:]...)
		}
	}
	return e
}

// DecodeChain undoes Encode; nil bytes are no chain.
func DecodeChain(b []byte) (StoredChain, error) {
	if b == nil {
		return nil, nil
	}
	d := newDec(b)
	n := d.Uint()
	if n > MaxChain {
		d.Fail()
	}
	var w StoredChain
	for i := uint64(0); i < n && !d.Failed(); i++ {
		h := Hop{URL: page.URL(d.Text()), Outcome: page.Outcome(d.Byte())}
		h.NoIndex = d.Byte()&1 != 0
		if h.Outcome == page.Page {
			h.Key = d.array32()
		}
		w = append(w, h)
	}
	return w, d.done("chain")
}

// StoredPropagation is how far a change of a chain has been passed on to the URLs that point at its URL.
type StoredPropagation struct {
	Chain uint64 // commit timestamp of the chain
	Next  string // row to go on from
}

// Encode for Propagated.
func (s StoredPropagation) Encode() []byte { return enc(nil).uint(s.Chain).string(s.Next) }

// DecodePropagation undoes Encode; nil bytes are no progress.
func DecodePropagation(b []byte) (StoredPropagation, error) {
	if b == nil {
		return StoredPropagation{}, nil
	}
	d := newDec(b)
	s := StoredPropagation{Chain: d.Uint(), Next: d.Text()}
	return s, d.done("propagation")
}

// StoredIndexed is an index document as it was last exported.
type StoredIndexed struct {
	URL     page.URL
	Members int
	Inlinks int
	Rank    float64
	Sum     [8]byte // digest of what was exported, but for times and rank
}

// Encode for Indexed.
func (s StoredIndexed) Encode() []byte {
	return append(enc(nil).string(string(s.URL)).uint(uint64(s.Members)).uint(uint64(s.Inlinks)).float(s.Rank), s.Sum[:]...)
}

// DecodeIndexed undoes Encode.
func DecodeIndexed(b []byte) (StoredIndexed, error) {
	d := newDec(b)
	s := StoredIndexed{URL: page.URL(d.Text()), Members: int(d.Uint()), Inlinks: int(d.Uint()), Rank: d.float()}
	for i := range s.Sum {
		s.Sum[i] = d.Byte()
	}
	return s, d.done("index document")
}
