package search

import (
	"cmp"
	"context"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/page"
)

// Explanation says how the score of a hit was computed:
//
//	score = text × title_factor × anchor_factor × rank_factor × site_factor × section_factor × language_factor × version_factor × content_factor × typed_factor × passage_factor
//
// Below the best hundred by text, the factors are 1.
type Explanation struct {
	// Tier is "all words", "some words", or "no words" (sorted by rank or date alone).
	// Hits of an earlier tier come first, whatever their scores, unless the query has four
	// words or more, or three and a stop word, or the page is named in other words.
	Tier string  `json:"tier"`
	Text float64 `json:"text"` // BM25 of all columns, by their weights
	// Columns has, for each column, what BM25 would be if only that column counted, with its
	// weight. The sum is not Text, because further occurrences of a word count less and less.
	Columns      Columns `json:"columns"`
	TitleMatch   float64 `json:"title_match"` // 0 to 1
	TitleFactor  float64 `json:"title_factor"`
	AnchorMatch  float64 `json:"anchor_match"` // of the best anchor or heading, 0 to 1
	AnchorFactor float64 `json:"anchor_factor"`
	Rank         float64 `json:"rank"`
	RankFactor   float64 `json:"rank_factor"`
	// LanguageFactor is less than 1 if the page is in another language than the query.
	LanguageFactor float64 `json:"language_factor"`
	// SiteFactor is less than 1 if the query names another site, and the page lacks a word of the query.
	SiteFactor float64 `json:"site_factor"`
	// SectionFactor is more than 1 if the page is the page of a section, and its title names what the
	// query asks for.
	SectionFactor float64 `json:"section_factor"`
	// VersionFactor is less than 1 if the page is of another version than the query asks for.
	VersionFactor float64 `json:"version_factor"`
	// ContentFactor is less than 1 if the page has no text, or no sentences (content.go).
	ContentFactor float64 `json:"content_factor"`
	// TypedFactor is more than 1 if few pages have all the words of the query, and this page
	// has them as typed.
	TypedFactor float64 `json:"typed_factor"`
	// PassageFactor is more than 1 if no title names what the query asks for, and this page has words
	// of the query in one passage, or all of them in several.
	PassageFactor float64 `json:"passage_factor"`
	// PlaceOf is the version or translation of the page that has the best score, or "" if
	// that is the hit itself. The hit has its place, and lists it in Also.
	PlaceOf      page.URL `json:"place_of,omitempty"`
	PlaceOfScore float64  `json:"place_of_score,omitempty"`
	// Repeats is the hit above that says most of what this one says, so that this one moved behind others
	// (littlenew.go); "" if there is none.
	Repeats page.URL `json:"repeats,omitempty"`
	// OtherWords has what the title and the marked words of the snippet have instead of words of
	// the query.
	OtherWords []OtherWord `json:"other_words,omitempty"`
}

// Columns are scores by column.
type Columns struct {
	Title   float64 `json:"title"`
	Body    float64 `json:"body"`
	Anchors float64 `json:"anchors"`
	Outside float64 `json:"outside_anchors"`
	URL     float64 `json:"url"`
	Rest    float64 `json:"rest"` // text outside of the main content
}

// explain fills in the explanations of the hits that were made of these candidates.
func (s *search) explain(ctx context.Context, list []candidate, hits []Hit) error {
	ranked := len(s.c.Terms) > 0 && s.opts.Sort != ByDate
	for i := range hits {
		f := &list[i]
		e := &Explanation{Tier: "no words", Rank: f.rank, TitleFactor: 1, AnchorFactor: 1, RankFactor: 1, LanguageFactor: 1, SiteFactor: 1, SectionFactor: 1, VersionFactor: 1, ContentFactor: 1, TypedFactor: 1, PassageFactor: 1}
		if ranked {
			s.explainScore(e, f)
			e.OtherWords = otherWords(s.c.Words, &hits[i])
		}
		hits[i].Explanation = e
	}
	if !ranked {
		return nil
	}
	return s.columnScores(ctx, list, hits)
}

// explainScore says how the score of a candidate is made up.
func (s *search) explainScore(e *Explanation, f *candidate) {
	e.Tier = "some words"
	if f.allWords {
		e.Tier = "all words"
	}
	e.Text, e.TitleMatch, e.AnchorMatch, e.Repeats = f.text, f.titleMatch, f.anchorMatch, f.repeats
	if w := &s.opts.Weights; f.score != f.text { // it was ranked by more than its text
		e.TitleFactor, e.AnchorFactor, e.RankFactor = w.titleFactor(f.titleMatch), w.anchorFactor(f.anchorMatch), w.rankFactor(f.rank)
	}
	if f.otherLanguage {
		e.LanguageFactor = otherLanguage
	}
	e.SiteFactor, e.SectionFactor, e.VersionFactor = cmp.Or(f.siteFactor, 1), cmp.Or(f.sectionFactor, 1), cmp.Or(f.versionFactor, 1)
	e.ContentFactor, e.TypedFactor, e.PassageFactor = cmp.Or(f.contentFactor, 1), cmp.Or(f.typedFactor, 1), cmp.Or(f.passageFactor, 1)
	if f.placeOf != nil {
		e.PlaceOf, e.PlaceOfScore = f.placeOf.url, f.placeOf.score
	}
}

// columnScores scores each column separately.
func (s *search) columnScores(ctx context.Context, list []candidate, hits []Hit) error {
	w := &s.opts.Weights
	alone := []Weights{{Title: w.Title}, {Body: w.Body}, {Anchors: w.Anchors}, {Outside: w.Outside}, {URL: w.URL}, {Rest: w.Rest}}
	at := make(map[int64]int, len(list))
	all, some := s.c.Expr(query.AllWords), s.c.Expr(s.fill)
	ids := map[*query.Expr][]int64{} // the tiers differ in their expressions
	for i := range list {
		at[list[i].id] = i
		expr := some
		if list[i].allWords {
			expr = all
		}
		ids[expr] = append(ids[expr], list[i].id)
	}
	for expr, wanted := range ids {
		scores, err := s.from.columns(ctx, expr, wanted, alone) // sorts wanted
		if err != nil {
			return err
		}
		for i, id := range wanted {
			c := scores[i]
			hits[at[id]].Explanation.Columns = Columns{c[0], c[1], c[2], c[3], c[4], c[5]}
		}
	}
	return nil
}
