package schema

import (
	"encoding/binary"
	"math"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/page"
)

// StoredRankState is the rank state of a URL. A URL without one has no edges to or from it,
// and only the rank rank.Teleport, which every URL has at least.
type StoredRankState struct {
	Inlinks int     // edges to this URL along which rank has been passed on
	In      float64 // the rank passed on along them: the sum of Pushed/Out over their sources
	Out     int     // edges from this URL
	Pushed  float64 // the rank that was last passed on, divided among these edges
	Rank    float64 // the published rank, exact within the tolerance
}

// NoRankState is the state of a URL without a StoredRankState.
var NoRankState = StoredRankState{Rank: rank.Teleport}

// Estimate returns the rank that follows from the rank that has come in.
func (m *StoredRankState) Estimate() float64 { return rank.Estimate(m.Inlinks, m.In) }

// Residual returns how much of the estimate has not been passed on.
func (m *StoredRankState) Residual() float64 {
	if m.Out == 0 {
		return 0
	}
	return m.Estimate() - m.Pushed
}

// Encode encodes the state for RankState.
func (m StoredRankState) Encode() []byte {
	return enc(make([]byte, 0, 32)).rankState(&m)
}

func (e enc) rankState(m *StoredRankState) enc {
	return e.uint(uint64(m.Inlinks)).uint(uint64(m.Out)).float(m.In).float(m.Pushed).float(m.Rank)
}

func (d dec) rankState() StoredRankState {
	return StoredRankState{Inlinks: d.count(), Out: d.count(), In: d.float(), Pushed: d.float(), Rank: d.float()}
}

// DecodeRankState decodes a state; nil bytes are NoRankState.
func DecodeRankState(b []byte) (StoredRankState, error) {
	if b == nil {
		return NoRankState, nil
	}
	d := newDec(b)
	m := d.rankState()
	return m, d.done("rank state")
}

// StoredEdges are the URLs to which a URL last passed rank.
type StoredEdges struct {
	// Links and State are the commit timestamps of the columns that the edges were read
	// from, 0 for a missing column: as long as these are the same, so are the edges.
	Links, State uint64
	Targets      []string // URL rows, ascending
}

// Encode encodes the edges as one part, for Edges.
func (s StoredEdges) Encode() []byte { return enc(nil).edges(s) }

// edges encodes only the part of each target that differs from the one before, since most
// links stay within a site.
func (e enc) edges(s StoredEdges) enc {
	e = e.uint(s.Links).uint(s.State).uint(uint64(len(s.Targets)))
	last := ""
	for _, t := range s.Targets {
		e = e.afterPrefix(last, t)
		last = t
	}
	return e
}

// DecodeEdges decodes edges that are stored as one part; nil bytes mean no edges. It refuses
// a part of a longer list.
func DecodeEdges(b []byte) (StoredEdges, error) {
	if b == nil {
		return StoredEdges{}, nil
	}
	return decodeEdgeParts([][]byte{b})
}

// DecodeEdgePart decodes one part of Edges. For part 0, further is the number of further
// parts. nil bytes mean no edges.
func DecodeEdgePart(b []byte) (s StoredEdges, further int, err error) {
	if b == nil {
		return s, 0, nil
	}
	d := newDec(b)
	s.Links, s.State = d.Uint(), d.Uint()
	d.targets(func(target []byte) bool {
		s.Targets = append(s.Targets, string(target))
		return true
	})
	further = d.further()
	return s, further, d.done("edges")
}

// targets reads the targets of a part of edges, until yield returns false. A target is valid until
// yield returns.
func (d dec) targets(yield func(target []byte) bool) (all bool) {
	n := d.Uint()
	if n > uint64(len(d.Rest()))/2 { // each takes at least two bytes
		d.Fail()
	}
	var last []byte
	for i, total := uint64(0), 0; i < n && !d.Failed(); i++ {
		same := d.Uint()
		if same > uint64(len(last)) {
			d.Fail()
			break
		}
		last = append(last[:same], d.Bytes()...)
		if total += len(last); len(last) > maxEdgeRow || total > maxUnpacked {
			d.Fail()
			break
		}
		if !yield(last) {
			return false
		}
	}
	return true
}

// maxEdgeRow bounds a URL row, so that the rows of a damaged value cannot grow without limit.
const maxEdgeRow = 1 << 16

// StoredChoice is the canonical URL of a cluster, by ranks that are more exact than the
// published ones.
type StoredChoice struct {
	// Among is a digest of the members that could be chosen. If they change, the choice is
	// void.
	Among [8]byte
	URL   page.URL // "" if the choice has not been made yet
}

// Encode encodes the choice for Choice.
func (s StoredChoice) Encode() []byte { return append(enc(nil).string(string(s.URL)), s.Among[:]...) }

// DecodeChoice decodes a choice.
func DecodeChoice(b []byte) (StoredChoice, error) {
	d := newDec(b)
	s := StoredChoice{URL: page.URL(d.Text()), Among: d.array8()}
	return s, d.done("choice")
}

// EncodeCorrection encodes a correction for Correction.
func EncodeCorrection(c float64) []byte { return enc(nil).float(c) }

// DecodeCorrection decodes a correction; nil bytes mean none.
func DecodeCorrection(b []byte) (float64, error) {
	if b == nil {
		return 0, nil
	}
	d := newDec(b)
	c := d.float()
	return c, d.done("correction")
}

// EncodeTolerance encodes a tolerance for RankTolerance.
func EncodeTolerance(t float64) []byte { return enc(nil).float(t) }

// DecodeTolerance decodes a tolerance; nil bytes mean the default.
func DecodeTolerance(b []byte) (float64, error) {
	if b == nil {
		return DefaultRankTolerance, nil
	}
	d := newDec(b)
	t := d.float()
	return t, d.done("rank tolerance")
}

// DefaultRankTolerance is the default relative error of ranks: a quarter of what search and
// the choice of canonical URLs can tolerate. With about twice as much or more, clusters
// whose members have equal ranks would be contested (observers/tiebreak.go).
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

// count reads a number of entries.
func (d dec) count() int {
	n := d.Uint()
	if n > math.MaxInt32 {
		d.Fail()
		return 0
	}
	return int(n)
}
