package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// randomSketches are of texts that were made of each other by changing words: families of
// similar ones, equal ones, short ones and empty ones.
func randomSketches(rng *rand.Rand, n int) (list []sketch.Sketch) {
	var texts [][]string
	for range n {
		var text []string
		if len(texts) > 0 && rng.IntN(4) > 0 {
			text = slices.Clone(texts[rng.IntN(len(texts))])
			for range rng.IntN(1 + len(text)/10) {
				text[rng.IntN(len(text))] = fmt.Sprint("new", rng.IntN(1000))
			}
		} else {
			for range rng.IntN(2) * rng.IntN(1<<rng.IntN(10)) {
				text = append(text, fmt.Sprint(rng.IntN(300)))
			}
		}
		texts = append(texts, text)
		var b sketch.Builder
		for _, w := range text {
			b.Add([]byte(w))
		}
		list = append(list, b.Sketch())
	}
	return list
}

func nameOf(i int) page.URL { return page.URL(fmt.Sprintf("https://a.example/%06d", i)) }

// TestSimilar compares with each and every pair, at any threshold, whether everything fits
// into memory or next to nothing.
func TestSimilar(t *testing.T) {
	rng := testenv.Random(t)
	pairs := 0
	for range testenv.Size(4, 12, 200) {
		list := randomSketches(rng, 1+rng.IntN(testenv.Size(80, 150, 800)))
		least := []float64{0.5, 0.8, 0.9, 1, 0.5 + rng.Float64()/2}[rng.IntN(5)]
		var want []Pair
		for i := range list {
			for j := range list[:i] {
				if same := sketch.Similarity(&list[i], &list[j]); same >= least {
					want = append(want, Pair{nameOf(j), nameOf(i), same})
				}
			}
		}
		slices.SortFunc(want, func(a, b Pair) int {
			return strings.Compare(string(a.URL+a.Other), string(b.URL+b.Other))
		})
		dir := t.TempDir()
		s, err := NewSimilar(dir, []int{0, 200, 5000}[rng.IntN(3)], least)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if err := s.Add(nameOf(i), &list[i]); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		n, err := s.WriteTo(t.Context(), &out)
		if err != nil || n != len(want) {
			t.Fatalf("%d pairs with %v or more, want %d: %v", n, least, len(want), err)
		}
		var got []Pair
		for line := range strings.Lines(out.String()) {
			var p Pair
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			got = append(got, p)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("with %v or more:\n%v\nwant\n%v", least, got, want)
		}
		pairs += n
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
	if pairs == 0 {
		t.Error("no pairs")
	}
}

func TestSimilarFails(t *testing.T) {
	for _, least := range []float64{0, 0.49, 1.01} {
		if _, err := NewSimilar(t.TempDir(), 0, least); err == nil {
			t.Errorf("a threshold of %v is accepted", least)
		}
	}
	s, err := NewSimilar(t.TempDir(), 0, DefaultThreshold)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b sketch.Builder
	b.Add([]byte("word"))
	same := b.Sketch()
	for i := range 3 {
		if err := s.Add(nameOf(i), &same); err != nil {
			t.Fatal(err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.WriteTo(ended, new(bytes.Buffer)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
