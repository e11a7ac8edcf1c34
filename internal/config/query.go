package config

import (
	"fmt"
	"strings"

	"golang.org/x/text/language"
)

// Query holds the settings of searching.
type Query struct {
	// Limit is how many hits are shown.
	Limit int
	// PerHost is how many hits of one host the first page shows before it prefers other hosts; 0: any number.
	PerHost int
	// Language is the language of the reader, unless a request names another one; "": none.
	Language string
	Weights  Weights
}

// Weights are the weights of the parts of a score (docs/ranking.md). They have the fields of
// search.Weights, into which they are converted.
type Weights struct {
	// The weights of a word in the title, the main content, an anchor from the same site, an
	// anchor from another site, the URL, and the text outside of the main content.
	Title, Body, Anchors, Outside, URL, Rest float64
	// TitleMatch, AnchorMatch, Rank and Typed are the strengths of the factors in re-ranking.
	TitleMatch, AnchorMatch, Rank, Typed float64
}

func defaultQuery() Query {
	return Query{Limit: 10, PerHost: 2, Language: "en", Weights: Weights{
		Title: 12, Body: 0.6, Anchors: 4.8, Outside: 9.6, URL: 0.6, Rest: 0.15,
		TitleMatch: 32, AnchorMatch: 4, Rank: 0.02, Typed: 20,
	}}
}

var querySettings = []setting{
	number("query.limit", func(c *Config) *int { return &c.Query.Limit }, 1, 1000),
	number("query.per_host", func(c *Config) *int { return &c.Query.PerHost }, 0, 10),
	{
		key: "query.language", allowed: `a language tag such as en or pt-br, or "" for none`,
		set: func(c *Config, v string) bool {
			c.Query.Language = strings.ToLower(v)
			return v == "" || isLanguageTag(v)
		},
		get: func(c *Config) string { return c.Query.Language },
	},
	weight("query.weights.title", func(w *Weights) *float64 { return &w.Title }),
	weight("query.weights.body", func(w *Weights) *float64 { return &w.Body }),
	weight("query.weights.anchors", func(w *Weights) *float64 { return &w.Anchors }),
	weight("query.weights.outside_anchors", func(w *Weights) *float64 { return &w.Outside }),
	weight("query.weights.url", func(w *Weights) *float64 { return &w.URL }),
	weight("query.weights.rest", func(w *Weights) *float64 { return &w.Rest }),
	weight("query.weights.title_match", func(w *Weights) *float64 { return &w.TitleMatch }),
	weight("query.weights.anchor_match", func(w *Weights) *float64 { return &w.AnchorMatch }),
	weight("query.weights.rank", func(w *Weights) *float64 { return &w.Rank }),
	weight("query.weights.typed", func(w *Weights) *float64 { return &w.Typed }),
}

func weight(key string, field func(*Weights) *float64) setting {
	const most = 1000
	of := func(c *Config) *float64 { return field(&c.Query.Weights) }
	return decimal(key, fmt.Sprintf("a number from 0 to %d", most), of, func(x float64) bool { return x >= 0 && x <= most })
}

func isLanguageTag(s string) bool {
	_, err := language.Parse(s)
	return err == nil
}
