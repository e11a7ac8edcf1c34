package opensearch

import (
	"strings"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/query"
)

// matching returns the condition that documents match an expression; nil matches all.
func matching(e *query.Expr) object {
	if e == nil {
		return object{"match_all": object{}}
	}
	switch e.Op {
	case query.OpPhrase:
		return inColumns(e)
	case query.OpAnd:
		return object{"bool": object{"must": each(e.Kids)}}
	case query.OpOr:
		return object{"bool": object{"should": each(e.Kids), "minimum_should_match": 1}}
	}
	return object{"bool": object{"must": each(e.Kids[:1]), "must_not": each(e.Kids[1:])}}
}

func each(list []*query.Expr) []object {
	out := make([]object, len(list))
	for i, e := range list {
		out[i] = matching(e)
	}
	return out
}

// inColumns returns the condition for a phrase in the columns in which e looks for it. The
// columns of the text have no fields of their own: so far no expression means them without
// meaning all columns, and such an expression would match in all columns.
func inColumns(e *query.Expr) object {
	columns := index.ColumnsOf(e)
	switch {
	case isTag(e.Phrase.Tokens):
		return object{"term": object{"tags": e.Phrase.Tokens}}
	case index.InAllColumns(e):
		return phrase("all", e.Phrase, 1)
	}
	some := make([]object, len(columns))
	for i, name := range columns {
		if name == "body" || name == "rest" {
			return phrase("all", e.Phrase, 1)
		}
		some[i] = phrase(name, e.Phrase, 1)
	}
	if len(some) == 1 {
		return some[0]
	}
	return object{"bool": object{"should": some, "minimum_should_match": 1}}
}

// maxExpansions bounds the tokens that a prefix of a token matches. Such beginnings are
// single characters of Chinese or Japanese, followed by any other one.
const maxExpansions = 5000

// phrase matches the tokens, one after the other, in one field.
func phrase(field string, p query.Phrase, boost float64) object {
	one := !strings.Contains(p.Tokens, " ")
	switch {
	case one && p.Prefix:
		return object{"prefix": object{field: object{"value": p.Tokens, "boost": boost}}}
	case one:
		return object{"term": object{field: object{"value": p.Tokens, "boost": boost}}}
	case p.Prefix:
		return object{"match_phrase_prefix": object{field: object{"query": p.Tokens, "max_expansions": maxExpansions, "boost": boost}}}
	}
	return object{"match_phrase": object{field: object{"query": p.Tokens, "boost": boost}}}
}

// promising matches as matching does, and orders the matches by the server's BM25 of all columns
// together, plus its BM25 of the columns that weigh more. This is close to the order of our
// scores, but not the same, and only decides which documents our code examines (candidates.go).
func promising(e *query.Expr, filter []object) object {
	var named []object
	for _, p := range e.Scored() {
		if isTag(p.Phrase.Tokens) {
			continue
		}
		for _, column := range index.ColumnsOf(p) {
			if boost := promise[column]; boost > 0 {
				named = append(named, phrase(column, p.Phrase, boost))
			}
		}
	}
	return object{"bool": object{"must": matching(e), "should": named, "filter": filter}}
}

// promise is how much a match in a column adds to the promise of a document.
var promise = map[string]float64{"title": 1, "anchors": 0.5, "outside": 0.7, "url": 0.1}
