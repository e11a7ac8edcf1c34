package schema

import "github.com/webindexer/indexer/page"

// Hop is one URL of a chain, with everything that decides where the chain continues or
// ends.
type Hop struct {
	URL     page.URL
	Outcome page.Outcome // Page or Redirect; the last hop may be Unfetched, which means anything else
	NoIndex bool
	Key     page.ContentKey // of a page
}

// StoredChain lists the URLs from a URL to its terminal: the URL itself, the URL that it
// leads to, and so on. It ends with a page that leads nowhere, with a redirect's target
// that is neither page nor redirect, with the first URL that occurs in it for the second
// time (a loop), or with the MaxChain-th URL.
type StoredChain []Hop

// MaxHops is how many hops a chain may have from a URL to its terminal (semantics.md
// section 4).
const MaxHops = 10

// MaxChain is how many URLs of a chain are stored: enough to know that there are more than
// MaxHops hops.
const MaxChain = MaxHops + 2

// Encode encodes the chain for Chain.
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

// DecodeChain decodes a chain; nil bytes mean no chain.
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

// StoredPropagation says how far a change of a chain has been passed on to the URLs that
// lead to the chain's URL.
type StoredPropagation struct {
	Chain uint64 // commit timestamp of the chain
	Next  string // row at which to continue
}

// Encode encodes the progress for Propagated.
func (s StoredPropagation) Encode() []byte { return enc(nil).uint(s.Chain).string(s.Next) }

// DecodePropagation decodes the progress; nil bytes are none.
func DecodePropagation(b []byte) (StoredPropagation, error) {
	if b == nil {
		return StoredPropagation{}, nil
	}
	d := newDec(b)
	s := StoredPropagation{Chain: d.Uint(), Next: d.Text()}
	return s, d.done("propagation")
}

// StoredIndexed says what the last export of an index document contained.
type StoredIndexed struct {
	URL     page.URL
	Members int
	Inlinks int
	Rank    float64
	Sum     [8]byte // digest of everything that was exported except times and rank
}

// Encode encodes the document for Indexed.
func (s StoredIndexed) Encode() []byte {
	return append(enc(nil).string(string(s.URL)).uint(uint64(s.Members)).uint(uint64(s.Inlinks)).float(s.Rank), s.Sum[:]...)
}

// DecodeIndexed decodes a document.
func DecodeIndexed(b []byte) (StoredIndexed, error) {
	d := newDec(b)
	s := StoredIndexed{URL: page.URL(d.Text()), Members: int(d.Uint()), Inlinks: int(d.Uint()), Rank: d.float(), Sum: d.array8()}
	return s, d.done("index document")
}
