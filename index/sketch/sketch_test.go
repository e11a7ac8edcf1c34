package sketch

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

// TestCompare compares bins four at a time with one at a time, on sketches with any bins
// empty, equal or different.
func TestCompare(t *testing.T) {
	rng := testenv.Random(t)
	for range testenv.Size(2000, 10_000, 1_000_000) {
		var a, b Sketch
		limit := 1 + rng.IntN(1<<uint(1+rng.IntN(16)))
		keep, fill := rng.Float64(), rng.Float64()
		for i := 0; i < Size; i += binBytes {
			if rng.Float64() < fill {
				binary.LittleEndian.PutUint16(a[i:], uint16(rng.IntN(limit)))
			}
			copy(b[i:], a[i:i+binBytes])
			if rng.Float64() > keep {
				binary.LittleEndian.PutUint16(b[i:], uint16(rng.IntN(limit)))
			}
		}
		same, either, inA := 0, 0, 0
		for i := 0; i < Size; i += binBytes {
			x, y := binary.LittleEndian.Uint16(a[i:]), binary.LittleEndian.Uint16(b[i:])
			if x|y != 0 {
				either++
			}
			if x != 0 {
				inA++
			}
			if x == y && x != 0 {
				same++
			}
		}
		want := 0.0
		if either > 0 {
			want = float64(same) / float64(either)
		}
		if got := Similarity(&a, &b); got != want {
			t.Fatalf("similarity %v, want %v:\n%x\n%x", got, want, a, b)
		}
		if got := a.Bins(); got != inA {
			t.Fatalf("%d bins, want %d: %x", got, inA, a)
		}
		for _, least := range []float64{0.1, 0.5, 0.8, want, math.Nextafter(want, 2), 1} {
			if got := Similar(&a, &b, least); got != (want >= least && same > 0) {
				t.Fatalf("similar by %v: %v, with similarity %v:\n%x\n%x", least, got, want, a, b)
			}
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

// TestSample: a passage has the same sample wherever it is, except for the shingles at
// its ends.
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

func BenchmarkSimilar(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func() *Sketch {
		words := make([]string, 1000)
		for i := range words {
			words[i] = fmt.Sprint(rng.IntN(500))
		}
		return of(strings.Join(words, " "))
	}
	x, y := text(), text()
	for b.Loop() {
		Similar(x, y, 0.8)
	}
}

// TestSampleOfShingles checks that a sample of the shingles of a Builder is the sample of
// the words.
func TestSampleOfShingles(t *testing.T) {
	rng := testenv.Random(t)
	for n := range 200 {
		var b Builder
		var ofWords, ofShingles Sampler
		for range n {
			word := fmt.Append(nil, rng.IntN(50))
			ofWords.Add(word)
			if shingle, ok := b.Add(word); ok {
				ofShingles.AddShingle(shingle)
			}
		}
		if got, want := ofShingles.Sample(), ofWords.Sample(); !slices.Equal(got, want) {
			t.Fatalf("%d words: sample %v of the shingles, %v of the words", n, got, want)
		}
	}
}
