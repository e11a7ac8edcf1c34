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

// StoredWalk is the way from a URL: the URL itself, where that leads, and so
// on. It ends with a page that leads nowhere, with a redirect's target that is
// neither page nor redirect, with the first URL that is on it already (a loop),
// or when it is MaxWalk hops long.
type StoredWalk []Hop

// MaxHops is how far a URL is followed to its terminal (semantics.md section 4).
const MaxHops = 10

// MaxWalk is how many URLs of a walk are kept: enough to know that there are
// more than MaxHops hops.
const MaxWalk = MaxHops + 2

// Encode for Walk.
func (w StoredWalk) Encode() []byte {
	e := enc(nil).uint(uint64(len(w)))
	for _, h := range w {
		e = e.string(string(h.URL)).byte(byte(h.Outcome)).byte(flags(h.NoIndex))
		if h.Outcome == page.Page {
			e = append(e, h.Key[:]...)
		}
	}
	return e
}

// DecodeWalk undoes Encode; nil bytes are no walk.
func DecodeWalk(b []byte) (StoredWalk, error) {
	if b == nil {
		return nil, nil
	}
	d := newDec(b)
	n := d.Uint()
	if n > MaxWalk {
		d.Fail()
	}
	var w StoredWalk
	for i := uint64(0); i < n && !d.Failed(); i++ {
		h := Hop{URL: page.URL(d.Text()), Outcome: page.Outcome(d.Byte())}
		h.NoIndex = d.Byte()&1 != 0
		if h.Outcome == page.Page {
			h.Key = d.array32()
		}
		w = append(w, h)
	}
	return w, d.done("walk")
}

// StoredSpread is how far a walk was passed on to what leads to its URL.
type StoredSpread struct {
	Walk uint64 // commit timestamp of the walk
	Next string // row to go on from
}

// Encode for Spread.
func (s StoredSpread) Encode() []byte { return enc(nil).uint(s.Walk).string(s.Next) }

// DecodeSpread undoes Encode; nil bytes are no progress.
func DecodeSpread(b []byte) (StoredSpread, error) {
	if b == nil {
		return StoredSpread{}, nil
	}
	d := newDec(b)
	s := StoredSpread{Walk: d.Uint(), Next: d.Text()}
	return s, d.done("spread")
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
