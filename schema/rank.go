package schema

import (
	"encoding/binary"
	"math"

	"indexer/internal/rank"
	"indexer/page"
)

// StoredRankState is a URL's rank with what it is made of. A URL without one has the rank
// that comes from nowhere, rank.Teleport: no edge leads to it, and it has none.
type StoredRankState struct {
	Inlinks int     // edges here, of those that have been passed on
	In      float64 // what they pass on: the sum of Pushed/Out over their sources
	Out     int     // edges from here
	Pushed  float64 // the rank that was last divided among them
	Rank    float64 // the rank as published: within the tolerance
}

// NoRankState is the state of a URL without a StoredRankState.
var NoRankState = StoredRankState{Rank: rank.Teleport}

// Estimate is the rank as far as it has come here.
func (m *StoredRankState) Estimate() float64 { return rank.Estimate(m.Inlinks, m.In) }

// Residual is how much of the estimate was not passed on.
func (m *StoredRankState) Residual() float64 {
	if m.Out == 0 {
		return 0
	}
	return m.Estimate() - m.Pushed
}

// Encode for RankState.
func (m StoredRankState) Encode() []byte {
	return enc(make([]byte, 0, 32)).rankState(&m)
}

func (e enc) rankState(m *StoredRankState) enc {
	return e.uint(uint64(m.Inlinks)).uint(uint64(m.Out)).float(m.In).float(m.Pushed).float(m.Rank)
}

func (d dec) rankState() StoredRankState {
	return StoredRankState{Inlinks: d.count(), Out: d.count(), In: d.float(), Pushed: d.float(), Rank: d.float()}
}

// DecodeRankState undoes Encode; nil bytes are NoRankState.
func DecodeRankState(b []byte) (StoredRankState, error) {
	if b == nil {
		return NoRankState, nil
	}
	d := newDec(b)
	m := d.rankState()
	return m, d.done("rank state")
}

// StoredEdges are where a URL passes rank to, as it last did.
type StoredEdges struct {
	// Links and State are the commit timestamps of what they were read from, 0 for
	// what was not there: while these are the same, so are the edges.
	Links, State uint64
	Targets      []string // URL rows, ascending
}

// Encode for Edges, in one part.
func (s StoredEdges) Encode() []byte { return enc(nil).edges(s) }

// edges has of each target only what differs from the one before, since most links stay
// within a site.
func (e enc) edges(s StoredEdges) enc {
	e = e.uint(s.Links).uint(s.State).uint(uint64(len(s.Targets)))
	last := ""
	for _, t := range s.Targets {
		same := commonPrefix(last, t)
		e = e.uint(uint64(same)).string(t[same:])
		last = t
	}
	return e
}

// DecodeEdges undoes Encode; nil bytes are no edges. Of several parts it takes none.
func DecodeEdges(b []byte) (StoredEdges, error) {
	if b == nil {
		return StoredEdges{}, nil
	}
	return DecodeEdgeParts([][]byte{b})
}

// DecodeEdgePart decodes one part of Edges; further is, of part 0, how many others there
// are. nil bytes are no edges.
func DecodeEdgePart(b []byte) (s StoredEdges, further int, err error) {
	if b == nil {
		return s, 0, nil
	}
	d := newDec(b)
	s.Links, s.State = d.Uint(), d.Uint()
	n := d.Uint()
	if n > uint64(len(d.Rest()))/2 { // each takes two bytes at least
		d.Fail()
	}
	var last []byte
	for i := uint64(0); i < n && !d.Failed(); i++ {
		same := d.Uint()
		if same > uint64(len(last)) {
			d.Fail()
			break
		}
		last = append(last[:same], d.Text()...)
		if len(last) > maxEdgeRow {
			d.Fail()
			break
		}
		s.Targets = append(s.Targets, string(last))
	}
	further = d.further()
	return s, further, d.done("edges")
}

// maxEdgeRow bounds a URL row, so that a damaged value cannot grow one from the other.
const maxEdgeRow = 1 << 16

// StoredChoice is the canonical URL of a cluster by ranks that are known better than
// the published ones.
type StoredChoice struct {
	// Among is a digest of the members that could be chosen; with others the choice is
	// void.
	Among [8]byte
	URL   page.URL // "" if it has not been made yet
}

// Encode for Choice.
func (s StoredChoice) Encode() []byte { return append(enc(nil).string(string(s.URL)), s.Among[:]...) }

// DecodeChoice undoes Encode.
func DecodeChoice(b []byte) (StoredChoice, error) {
	d := newDec(b)
	s := StoredChoice{URL: page.URL(d.Text())}
	copy(s.Among[:], d.Take(uint64(len(s.Among))))
	return s, d.done("choice")
}

// EncodeCorrection for Correction.
func EncodeCorrection(c float64) []byte { return enc(nil).float(c) }

// DecodeCorrection undoes EncodeCorrection; nil bytes are no correction.
func DecodeCorrection(b []byte) (float64, error) {
	if b == nil {
		return 0, nil
	}
	d := newDec(b)
	c := d.float()
	return c, d.done("correction")
}

// EncodeTolerance for RankTolerance.
func EncodeTolerance(t float64) []byte { return enc(nil).float(t) }

// DecodeTolerance undoes EncodeTolerance; nil bytes are the default.
func DecodeTolerance(b []byte) (float64, error) {
	if b == nil {
		return DefaultRankTolerance, nil
	}
	d := newDec(b)
	t := d.float()
	return t, d.done("rank tolerance")
}

// DefaultRankTolerance is the relative error of ranks where nothing else is said: a
// quarter of what search and the choice of canonical URLs can bear. With twice as much
// and more, URLs of the same rank would be contested (observers/settle.go).
const DefaultRankTolerance = 0.0025

func (e enc) float(f float64) enc { return binary.LittleEndian.AppendUint64(e, math.Float64bits(f)) }

// float reads a finite number.
func (d dec) float() float64 {
	b := d.Take(8)
	if b == nil {
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(b))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		d.Fail()
		return 0
	}
	return f
}

// count reads a number of things.
func (d dec) count() int {
	n := d.Uint()
	if n > math.MaxInt32 {
		d.Fail()
		return 0
	}
	return int(n)
}
