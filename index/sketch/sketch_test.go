package sketch

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

func of(text string) *Sketch {
	var b Builder
	for w := range strings.FieldsSeq(text) {
		b.Add([]byte(w))
	}
	s := b.Sketch()
	return &s
}

func shingles(list []string) map[string]bool {
	set := make(map[string]bool)
	for i := 0; i+words <= len(list); i++ {
		set[strings.Join(list[i:i+words], " ")] = true
	}
	return set
}

func jaccard(a, b map[string]bool) float64 {
	both := 0
	for s := range a {
		if b[s] {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// TestEstimates: the estimates of random pairs of texts are as close to the true similarity
// as the package says.
func TestEstimates(t *testing.T) {
	rng := testenv.Random(t)
	pairs := testenv.Size(100, 300, 5000)
	sum := 0.0
	for range pairs {
		a := make([]string, 50+rng.IntN(3000))
		for i := range a {
			a[i] = fmt.Sprint(rng.IntN(2000))
		}
		b := append([]string(nil), a...)
		for range rng.IntN(len(a) / 8) {
			b[rng.IntN(len(b))] = fmt.Sprint(rng.IntN(2000))
		}
		want := jaccard(shingles(a), shingles(b))
		got := Similarity(of(strings.Join(a, " ")), of(strings.Join(b, " ")))
		if math.Abs(got-want) > 0.35 {
			t.Errorf("%d words: estimate %.3f, truth %.3f", len(a), got, want)
		}
		sum += (got - want) * (got - want)
	}
	if e := math.Sqrt(sum / float64(pairs)); e > 0.06 {
		t.Errorf("root mean square error %.3f", e)
	}
}

func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"", "", 0},
		{"", "a b c d e", 0},
		{"a", "a", 1},
		{"a", "b", 0},
		{"a b", "b a", 0},
		{"a b c d e f", "a b c d e f", 1},
		{"a b c d", "e f g h", 0},
	} {
		if got := Similarity(of(c.a), of(c.b)); got != c.want {
			t.Errorf("%q %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestStored: sketches are on users' disks. If this one changes, raise the format version of
// the index files.
func TestStored(t *testing.T) {
	s := of("the index is updated as soon as a page has been fetched")
	var got strings.Builder
	for i := range bins {
		if v := binary.LittleEndian.Uint16(s[i*binBytes:]); v != 0 {
			fmt.Fprintf(&got, "%d:%04x ", i, v)
		}
	}
	if want := "6:8dab 23:11a0 26:a671 45:185a 57:3097 60:77da 114:59d1 117:befb 118:e068 "; got.String() != want {
		t.Errorf("sketch %s, want %s", got.String(), want)
	}
}

func BenchmarkAdd(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	list := make([][]byte, 1000)
	for i := range list {
		list[i] = []byte(fmt.Sprint("word", rng.IntN(500)))
	}
	var s Sketch
	for b.Loop() {
		var x Builder
		for _, w := range list {
			x.Add(w)
		}
		s = x.Sketch()
	}
	_ = s
}

func BenchmarkSimilarity(b *testing.B) {
	x, y := of("a b c d e f g h"), of("a b c d e f g i")
	for b.Loop() {
		Similarity(x, y)
	}
}

// TestSample: a passage has the same sample wherever it stands, up to the shingles at its
// ends.
func TestSample(t *testing.T) {
	sampleOf := func(text string) map[uint16]bool {
		var s Sampler
		for w := range strings.FieldsSeq(text) {
			s.Add([]byte(w))
		}
		set := make(map[uint16]bool)
		for _, slot := range s.Sample() {
			set[slot] = true
		}
		return set
	}
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "w%d ", i)
	}
	alone := sampleOf(b.String())
	if n := len(alone); n < 400/oneIn/2 || n > 400/oneIn*2 {
		t.Errorf("%d of 400 shingles", n)
	}
	inside := sampleOf("something before it " + b.String() + " and something behind it")
	for slot := range alone {
		if !inside[slot] {
			t.Errorf("the sample inside another text has no %d", slot)
		}
	}
}
