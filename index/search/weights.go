package search

import (
	"fmt"
	"math"
)

// Weights say how much each part of a score counts; docs/ranking.md says how they were
// chosen. The zero value means [DefaultWeights].
type Weights struct {
	// How much an occurrence in each column counts in BM25. These numbers have a meaning
	// only together with the constant k1: multiplying all of them by 0.6 is dividing k1 =
	// 1.2 by 0.6, so that further occurrences of a word count more. Rest is the text outside
	// the main content.
	Title, Body, Anchors, Outside, URL, Rest float64
	// TitleMatch, AnchorMatch and Rank are the strengths of the factors of the second sort
	// (rerank.go), and Typed that of words as typed (typed.go).
	TitleMatch, AnchorMatch, Rank, Typed float64
}

// DefaultWeights were chosen on one half of the queries of `go run ./bench relevance`, which
// reports on the other half (docs/ranking.md).
var DefaultWeights = Weights{Title: 12, Body: 0.6, Anchors: 4.8, Outside: 9.6, URL: 0.6, Rest: 0.15, TitleMatch: 32, AnchorMatch: 4, Rank: 0.02, Typed: 20}

// MaxWeight bounds each of the weights.
const MaxWeight = 1000

func (w *Weights) check() error {
	for _, x := range []float64{w.Title, w.Body, w.Anchors, w.Outside, w.URL, w.Rest, w.TitleMatch, w.AnchorMatch, w.Rank, w.Typed} {
		if !(x >= 0) || math.IsInf(x, 0) || x > MaxWeight {
			return &UsageError{Reason: fmt.Sprintf("weight %v: weights are from 0 to %d", x, MaxWeight)}
		}
	}
	return nil
}

func (w *Weights) titleFactor(match float64) float64  { return 1 + w.TitleMatch*match*match }
func (w *Weights) anchorFactor(match float64) float64 { return 1 + w.AnchorMatch*match }
func (w *Weights) rankFactor(rank float64) float64    { return 1 + w.Rank*math.Log1p(rank) }

// typedFactor returns the factor of a document that has all the words as typed. shortness is 1
// for an empty document, ½ for a document of average length, and 0 for an infinitely long one.
func (w *Weights) typedFactor(shortness float64) float64 { return 1 + w.Typed*shortness }
