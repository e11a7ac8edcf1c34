package harmonic

import (
	"bytes"
	"context"
	"math"
	"math/bits"
)

// maxRegisters bounds the registers of all nodes together, in bytes: there are two for
// each, of this step and of the one before.
const maxRegisters = 256 << 20

// registersFor is the binary logarithm of how many registers a node has: as many as fit,
// from 16 to 256. Estimates are off by 1.04/√(registers), relatively: by 6.5 % up to
// half a million nodes, by 9 % with a million, by 26 % with eight million and more.
func registersFor(nodes int) int {
	log := 8
	for log > 4 && nodes > maxRegisters>>(log+1) {
		log--
	}
	return log
}

// estimate counts for each node the nodes within 1, 2, 3… steps of it, with HyperLogLog
// counters of 1<<log registers (Flajolet et al., 2007): the counter of a node's ball is
// the maximum, register by register, of the counters of its sources' balls. Only balls
// that grew in the previous step are considered. It ends when no ball has grown. A node
// enters by a hash of its number, so the same graph gives the same numbers.
func estimate(ctx context.Context, g *Graph, log int) ([]float64, error) {
	n, m := g.Nodes(), 1<<log
	balls, next := make([]byte, n*m), make([]byte, n*m)
	grew, grows := make([]bool, n), make([]bool, n)
	sums, sizes := make([]float64, n), make([]float64, n)
	for node := range n {
		h := mix(uint64(node))
		balls[node*m+int(h>>(64-log))] = byte(1 + bits.LeadingZeros64(h<<log|1<<(log-1)))
		sizes[node], grew[node] = 1, true
	}
	for distance := 1; ; distance++ {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		any := false
		for node := range n {
			was, ball := balls[node*m:(node+1)*m], next[node*m:(node+1)*m]
			copy(ball, was)
			for _, s := range g.sourcesOf(node) {
				if grew[s] {
					mergeRegisters(ball, balls[int(s)*m:(int(s)+1)*m])
				}
			}
			if grows[node] = !bytes.Equal(ball, was); !grows[node] {
				continue
			}
			any = true
			size := max(counted(ball), sizes[node])
			sums[node] += (size - sizes[node]) / float64(distance)
			sizes[node] = size
		}
		if !any {
			return sums, nil
		}
		balls, next = next, balls
		grew, grows = grows, grew
	}
}

func mergeRegisters(ball, other []byte) {
	ball = ball[:len(other)]
	for i, r := range other {
		ball[i] = max(ball[i], r)
	}
}

// counted estimates how many nodes a counter has counted. It derives small numbers from
// the number of empty registers.
func counted(registers []byte) float64 {
	sum, empty := 0.0, 0
	for _, r := range registers {
		sum += powers[r]
		if r == 0 {
			empty++
		}
	}
	m := float64(len(registers))
	e := alpha(len(registers)) * m * m / sum
	if e <= 2.5*m && empty > 0 {
		return m * math.Log(m/float64(empty))
	}
	return e
}

// powers are 2 to the power of minus a register.
var powers = func() (p [66]float64) {
	for r := range p {
		p[r] = math.Ldexp(1, -r)
	}
	return p
}()

// alpha corrects the bias of the given number of registers.
func alpha(registers int) float64 {
	switch registers {
	case 16:
		return 0.673
	case 32:
		return 0.697
	case 64:
		return 0.709
	}
	return 0.7213 / (1 + 1.079/float64(registers))
}

// mix is a bijection that spreads numbers over all bits (splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
