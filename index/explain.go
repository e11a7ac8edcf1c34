package index

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"indexer/page"
)

// Explanation is how the score of a hit came about:
//
//	score = text × title_factor × anchor_factor × rank_factor
//
// except that below the best hundred by text the factors are 1.
type Explanation struct {
	// Tier is "all words", "some words", or "no words" (sorted by rank or date alone). Hits of an earlier tier
	// come first, whatever their scores.
	Tier string  `json:"tier"`
	Text float64 `json:"text"` // BM25 of all columns, by their weights
	// Columns is what BM25 would be if only that column counted, with its weight. The sum is not Text: further
	// occurrences of a word count less and less.
	Columns      Columns `json:"columns"`
	TitleMatch   float64 `json:"title_match"` // 0 to 1
	TitleFactor  float64 `json:"title_factor"`
	AnchorMatch  float64 `json:"anchor_match"` // 0 to 1
	AnchorFactor float64 `json:"anchor_factor"`
	Rank         float64 `json:"rank"`
	RankFactor   float64 `json:"rank_factor"`
}

// Columns are scores by column.
type Columns struct {
	Title   float64 `json:"title"`
	Body    float64 `json:"body"`
	Anchors float64 `json:"anchors"`
	Outside float64 `json:"outside_anchors"`
	URL     float64 `json:"url"`
}

// explain fills in the explanations of the hits, which are of these candidates.
func (v *View) explain(ctx context.Context, list []candidate, c *compiled, opts *Options, hits []Hit) error {
	w := &opts.Weights
	for i := range hits {
		f := &list[i]
		e := &Explanation{
			Tier: "some words", Text: f.text, Rank: f.rank,
			TitleMatch: f.titleMatch, TitleFactor: w.titleFactor(f.titleMatch),
			AnchorMatch: f.anchorMatch, AnchorFactor: w.anchorFactor(f.anchorMatch),
			RankFactor: w.rankFactor(f.rank),
		}
		if f.allWords {
			e.Tier = "all words"
		}
		if len(c.terms) == 0 || opts.Sort == ByDate {
			*e = Explanation{Tier: "no words", Text: 0, Rank: f.rank, TitleFactor: 1, AnchorFactor: 1, RankFactor: 1}
		} else if f.score == f.text {
			e.TitleFactor, e.AnchorFactor, e.RankFactor = 1, 1, 1
		}
		hits[i].Explanation = e
	}
	if len(c.terms) == 0 || opts.Sort == ByDate || len(hits) == 0 {
		return nil
	}
	return v.columnScores(ctx, c, w, list, hits)
}

// columnScores asks FTS5 for the score of each column by itself.
func (v *View) columnScores(ctx context.Context, c *compiled, w *Weights, list []candidate, hits []Hit) error {
	at := make(map[int64]int, len(list))
	ids := map[bool][]int64{} // by tier, whose expressions differ
	for i := range list {
		at[list[i].id] = i
		ids[list[i].allWords] = append(ids[list[i].allWords], list[i].id)
	}
	for all, wanted := range ids {
		expr := c.any()
		if all {
			expr = c.all()
		}
		if err := v.tierScores(ctx, expr, w, wanted, func(id int64, s Columns) { hits[at[id]].Explanation.Columns = s }); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) tierScores(ctx context.Context, expr string, w *Weights, ids []int64, set func(int64, Columns)) (err error) {
	wanted, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	// The unary + keeps SQLite from running the full-text query once for each id.
	rows, err := v.tx.QueryContext(ctx, `SELECT rowid, -bm25(fts,?,0,0,0,0,0), -bm25(fts,0,?,0,0,0,0), -bm25(fts,0,0,?,0,0,0), -bm25(fts,0,0,0,?,0,0), -bm25(fts,0,0,0,0,?,0)
		FROM fts WHERE fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))`, w.Title, w.Body, w.Anchors, w.Outside, w.URL, expr, string(wanted))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		var s Columns
		if err := rows.Scan(&id, &s.Title, &s.Body, &s.Anchors, &s.Outside, &s.URL); err != nil {
			return err
		}
		set(id, s)
	}
	return rows.Err()
}

// hostOf is the host that results are counted by: without www.
func hostOf(u page.URL) string { return strings.TrimPrefix(u.Host(), "www.") }
