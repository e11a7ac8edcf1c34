package pagerank

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/internal/rank"
)

// An identifier identifies names by 64 bits of a hash with a random key, so that an attacker
// cannot make up two names with the same bits. Building the graph detects two names that have the
// same bits by chance (ErrSameBits). For nodes that come later, this is not detected: among 10⁷ of
// them, it happens with a probability of 10⁻⁵.
type identifier struct {
	key     [16]byte
	scratch []byte
}

func newIdentifier() *identifier {
	i := new(identifier)
	_, _ = rand.Read(i.key[:]) // never fails
	return i
}

func (i *identifier) of(name []byte) uint64 {
	i.scratch = append(append(i.scratch[:0], i.key[:]...), name...)
	sum := sha256.Sum256(i.scratch)
	return binary.LittleEndian.Uint64(sum[:])
}

// identified has nodes in ascending order of their identifying bits.
type identified struct {
	ids     []uint64
	numbers []uint32
}

// identify sorts nodes, which are given by their numbers.
func identify(ids []uint64) (identified, error) {
	k := identified{numbers: make([]uint32, len(ids))}
	for i := range k.numbers {
		k.numbers[i] = uint32(i)
	}
	slices.SortFunc(k.numbers, func(a, b uint32) int { return cmp.Compare(ids[a], ids[b]) })
	k.ids = make([]uint64, len(ids))
	for i, u := range k.numbers {
		k.ids[i] = ids[u]
		if i > 0 && k.ids[i] == k.ids[i-1] {
			return k, fmt.Errorf("%w: nodes %d and %d", rank.ErrSameBits, k.numbers[i-1], u)
		}
	}
	return k, nil
}

func (k *identified) find(id uint64) (uint32, bool) {
	if i, ok := slices.BinarySearch(k.ids, id); ok {
		return k.numbers[i], true
	}
	return 0, false
}

// with returns the nodes and some later ones.
func (k *identified) with(added map[uint64]uint32) identified {
	more := make([]uint64, 0, len(added))
	for id := range added {
		more = append(more, id)
	}
	slices.Sort(more)
	all := identified{ids: make([]uint64, 0, len(k.ids)+len(more)), numbers: make([]uint32, 0, len(k.ids)+len(more))}
	for i := 0; i < len(k.ids) || len(more) > 0; {
		if len(more) == 0 || i < len(k.ids) && k.ids[i] < more[0] {
			all.ids, all.numbers = append(all.ids, k.ids[i]), append(all.numbers, k.numbers[i])
			i++
			continue
		}
		all.ids, all.numbers = append(all.ids, more[0]), append(all.numbers, added[more[0]])
		more = more[1:]
	}
	return all
}
