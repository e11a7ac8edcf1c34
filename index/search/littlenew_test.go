package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// TestSaysLittleNew: what makes a page one that says little new.
func TestSaysLittleNew(t *testing.T) {
	made := func(url page.URL, title float64, main string, sample ...uint16) *candidate {
		var b sketch.Builder
		for word := range strings.FieldsSeq(main) {
			b.Add([]byte(word))
		}
		c := &candidate{url: url, titleMatch: title}
		s := b.Sketch()
		c.sketched(&Sketched{Sketch: s[:], Sample: string(sketch.PackSample(sample))})
		return c
	}
	long := func(word string) string { // of 300 different words
		var b strings.Builder
		for i := range 300 {
			b.WriteString(word + string(rune('a'+i%26)) + string(rune('a'+i/26)) + " ")
		}
		return b.String()
	}
	above := made("https://a.example/above", 0.5, "rings the bell", 1, 2, 3, 4)
	for _, c := range []struct {
		name        string
		above, here *candidate
		want        bool
	}{
		{"short", above, made("https://a.example/1", 0.5, "trims the wick", 1, 2, 3, 4), true},
		{"named worse", above, made("https://www.a.example/1", 0.4, "trims the wick", 1, 2, 3, 4), true},
		{"named better", above, made("https://a.example/1", 0.6, "trims the wick", 1, 2, 3, 4), false},
		{"other host", above, made("https://b.example/1", 0.5, "trims the wick", 1, 2, 3, 4), false},
		{"other text", above, made("https://a.example/1", 0.5, "trims the wick", 1, 2, 5, 6), false},
		{"no sample", above, made("https://a.example/1", 0.5, "trims the wick"), false},
		{"no sketch", above, &candidate{url: "https://a.example/1", sample: above.sample}, false},
		{"long", above, made("https://a.example/1", 0.5, long("wick"), 1, 2, 3, 4), false},
		{"long and repeated", made("https://a.example/0", 0.5, long("wick"), 1, 2, 3, 4), made("https://a.example/1", 0.5, long("wick")+"glass", 1, 2, 3, 4), true},
	} {
		if got := c.here.saysLittleNew(c.above); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestSampleSimilarity: the similarity is the share of the shingles that both samples have, and 0 where the
// lengths alone show that it is less than littleNew.
func TestSampleSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b []uint16
		want float64
	}{
		{nil, nil, 0},
		{nil, []uint16{1}, 0},
		{[]uint16{1, 2, 3}, []uint16{1, 2, 3}, 1},
		{[]uint16{1, 2, 3, 4}, []uint16{1, 2, 3, 5}, 3.0 / 5},
		{[]uint16{1, 2, 3, 4}, []uint16{2, 3, 4}, 3.0 / 4},
		{[]uint16{1, 2, 3, 4}, []uint16{2, 3}, 0},
		{[]uint16{1, 300, 8191}, []uint16{1, 300, 8190}, 2.0 / 4},
	} {
		if got := sampleSimilarity(string(sketch.PackSample(c.a)), string(sketch.PackSample(c.b))); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	rng := testenv.Random(t)
	for range testenv.Size(200, 2000, 200_000) {
		var a, b []uint16
		both, either := 0, 0
		for slot := range uint16(sketch.Slots) {
			x, y := rng.IntN(40) == 0, false
			if y = x; rng.IntN(200) == 0 {
				y = !x
			}
			if x {
				a = append(a, slot)
			}
			if y {
				b = append(b, slot)
			}
			if x && y {
				both++
			}
			if x || y {
				either++
			}
		}
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		want := float64(both) / float64(either)
		if 4*min(len(a), len(b)) < 3*max(len(a), len(b)) {
			want = 0
		}
		if got := sampleSimilarity(string(sketch.PackSample(a)), string(sketch.PackSample(b))); got != want {
			t.Fatalf("%d and %d shingles, %d in common: %v, want %v", len(a), len(b), both, got, want)
		}
		if !slices.Equal(sketch.UnpackSample(sketch.PackSample(a)), a) {
			t.Fatalf("%v is read as %v", a, sketch.UnpackSample(sketch.PackSample(a)))
		}
	}
}
