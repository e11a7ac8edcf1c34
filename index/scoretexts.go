package index

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/postings"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
)

// ColumnTexts are the columns of a document that count in BM25, as analysis makes them:
// tokens, each followed by a space.
type ColumnTexts [weighedColumns]string

// TextsOf returns the columns in the order of ColumnTexts.
func TextsOf(c *analysis.Columns) ColumnTexts {
	texts := c.Texts()
	return ColumnTexts(texts[:weighedColumns])
}

// ScoreTexts returns the BM25 scores (bm25.go) of a document with the given number of
// tokens in all columns, one for each of the weights. They equal the scores computed
// from posting lists.
func ScoreTexts(expr *query.Expr, st search.Statistics, tokens int64, columns *ColumnTexts, weights ...search.Weights) ([]float64, error) {
	phrases := expr.Scored()
	if len(phrases) != len(st.Documents) {
		return nil, fmt.Errorf("statistics of %d phrases for an expression with %d", len(st.Documents), len(phrases))
	}
	k := saturation(st, float64(tokens))
	out := make([]float64, len(weights))
	for i, p := range phrases {
		var count [weighedColumns]float64
		for c := range columns {
			if p.In&(1<<c) != 0 {
				count[c] = float64(occurrences(columns[c], p.Phrase))
			}
		}
		for w := range weights {
			f, weigh := 0.0, weightsOf(&weights[w])
			for c := range count {
				f += weigh[c] * count[c]
			}
			if f > 0 {
				out[w] += bm25(idf(st.Rows, st.Documents[i]), f, k)
			}
		}
	}
	return out, nil
}

// occurrences counts the places in a column at which a phrase begins. Occurrences may
// overlap.
func occurrences(column string, p query.Phrase) (n int) {
	phrase := p.Tokens
	if !p.Prefix {
		phrase += " "
	}
	for at := 0; ; {
		i := strings.Index(column[at:], phrase)
		if i < 0 {
			return n
		}
		if at += i; at == 0 || column[at-1] == ' ' {
			n++
		}
		_, size := utf8.DecodeRuneInString(column[at:])
		at += size
	}
}

// InAllColumns reports whether a phrase is looked for in all columns that count.
func InAllColumns(p *query.Expr) bool {
	return p.In&postings.Columns(1<<weighedColumns-1) == 1<<weighedColumns-1
}

// ColumnsOf names the columns that count in which a phrase is looked for.
func ColumnsOf(p *query.Expr) (names []string) {
	for i, name := range analysis.ColumnNames[:weighedColumns] {
		if p.In&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
