package opensearch

import (
	"github.com/webindexer/indexer/index/analysis"
)

// format is the version of everything that this package stores: the mapping, the ids, and
// what is packed into documents. An index of a lower one is built again from the store.
const format = 3

// meta identifies an index. The server keeps it with the mapping.
type meta struct {
	Format   int    `json:"indexer_format"`
	Analysis int    `json:"analysis"`
	ID       string `json:"id"`
}

type object map[string]any

// mapping describes the records (doc.go).
//
// Each column that our analysis makes is a field, for phrases that are looked for in some columns. All
// columns together make up the field all, for other phrases. The columns of the text, body and rest, are only
// in that field. The text of a document, and what else is shown or scored, is in stored, which the server
// keeps without looking into it. The server does not keep what it indexes: _source has only what is read
// back.
//
// What is read of many documents for one query is in doc values: content, columns, sketch, and
// the numbers. The server finds these by the number of the document. To read a part of _source,
// it would decompress and parse all of it, with the text of the page. With that, a query took
// the server three times as long.
//
// sum0 to sum3 are the parts of a 64-bit number, each below 2¹⁶. Their sums over all
// documents are exact as floating-point numbers, which is how the server adds, and make up
// the sum by which index and store are compared (index.Sum).
func (a Address) mapping(id string) object {
	tokens := object{"type": "text", "analyzer": "whitespace"}
	column := object{"type": "text", "analyzer": "whitespace", "copy_to": "all"}
	inAll := object{"type": "text", "analyzer": "whitespace", "index": false, "copy_to": "all"}
	words := object{"type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": false}
	binary := object{"type": "binary", "doc_values": true}
	keyword, long, integer := object{"type": "keyword"}, object{"type": "long"}, object{"type": "integer"}
	return object{
		"aliases": object{},
		"settings": object{
			"number_of_shards": a.shards, "number_of_replicas": a.replicas,
			"refresh_interval": "1s",
		},
		"mappings": object{
			"_meta":   meta{Format: format, Analysis: analysis.Version, ID: id},
			"dynamic": "strict",
			"_source": object{"excludes": []string{"title", "body", "anchors", "outside", "url", "rest", "tags", "named", "words", "host", "sample", "urls", "content", "columns", "sketch"}},
			"properties": object{
				"kind": keyword, "cluster": keyword, "seq": long, "fetched": long, "rank": object{"type": "double"},
				"touch": keyword, "tokens": long, "stemmer": keyword, "tags": keyword, "digest": keyword,
				"sum0": integer, "sum1": integer, "sum2": integer, "sum3": integer,
				"all": tokens, "title": column, "anchors": column, "outside": column, "url": column,
				"body": inAll, "rest": inAll,
				"named": words, "words": words,
				"host": keyword, "sample": object{"type": "integer", "index": false}, "urls": object{"type": "keyword", "doc_values": false},
				"content": binary, "columns": binary, "sketch": binary,
				"stored": object{"type": "object", "enabled": false},
			},
		},
	}
}

// Kinds of records.
const (
	kindDocument = "document"
	kindGrave    = "grave"
	kindRank     = "rank"
	kindTime     = "time"
)
