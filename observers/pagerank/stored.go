package pagerank

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/internal/wire"
)

// ErrStored means that a stored link graph is damaged, or another version of the program wrote
// it.
var ErrStored = errors.New("pagerank: the stored link graph cannot be read")

// storedFormat begins a stored link graph. It changes whenever the form does.
const storedFormat = "link graph 1\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode returns the graph in a form for DecodeLinkGraph.
//
// The form is: storedFormat, the key of the identifier, the graph (rank.OutGraph); for each node, in
// the order of the identifying bits, these bits and the number of the node; for each node its rank; a
// CRC-32C of all that. Numbers have 8 bytes, node numbers 4, lowest byte first.
func (g *LinkGraph) Encode() []byte {
	known := g.known.with(g.added)
	b := make([]byte, 0, 64+20*len(known.ids)+3*len(known.ids))
	b = append(append(b, storedFormat...), g.id.key[:]...)
	b = g.OutGraph.Append(b)
	for i, id := range known.ids {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, id), known.numbers[i])
	}
	for _, r := range g.Ranks {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r))
	}
	return withChecksum(b)
}

func withChecksum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// DecodeLinkGraph reads what Encode has returned. The graph refers to b, which must not be modified.
func DecodeLinkGraph(b []byte) (*LinkGraph, error) {
	body := b[:max(0, len(b)-4)]
	if len(b) < 4 || crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[len(body):]) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrStored)
	}
	d := wire.NewDecoder(body)
	if string(d.Take(uint64(len(storedFormat)))) != storedFormat {
		return nil, fmt.Errorf("%w: another format", ErrStored)
	}
	g := &LinkGraph{id: new(identifier), added: make(map[uint64]uint32)}
	copy(g.id.key[:], d.Take(uint64(len(g.id.key))))
	rest, ok := []byte(nil), false
	if g.OutGraph, rest, ok = rank.DecodeOutGraph(d.Rest()); !ok || uint64(len(rest)) != 20*uint64(g.Nodes()) {
		return nil, fmt.Errorf("%w: wrong length", ErrStored)
	}
	d = wire.NewDecoder(rest)
	if !g.known.decode(d, g.Nodes()) {
		return nil, fmt.Errorf("%w: its nodes are out of order", ErrStored)
	}
	g.Ranks = make([]float64, g.Nodes())
	for u := range g.Ranks {
		g.Ranks[u] = math.Float64frombits(fixed64(d))
		if !(g.Ranks[u] >= 0 && g.Ranks[u] <= math.MaxFloat64) {
			return nil, fmt.Errorf("%w: node %d has rank %v", ErrStored, u, g.Ranks[u])
		}
	}
	return g, nil
}

// decode reads the nodes of a graph, and reports whether they are in order.
func (k *identified) decode(d *wire.Decoder, nodes int) bool {
	k.ids, k.numbers = make([]uint64, nodes), make([]uint32, nodes)
	for i := range k.ids {
		k.ids[i] = fixed64(d)
		k.numbers[i] = binary.LittleEndian.Uint32(d.Take(4))
		if int64(k.numbers[i]) >= int64(nodes) || i > 0 && k.ids[i] <= k.ids[i-1] {
			return false
		}
	}
	return true
}

// fixed64 reads a number of 8 bytes, or returns 0 if b is too short.
func fixed64(d *wire.Decoder) uint64 {
	if b := d.Take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
