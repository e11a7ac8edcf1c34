// Package completion completes what a person has begun to type, from the titles of pages and
// the texts of links to them.
//
// A [Builder] takes these from the documents of an index and chooses those that people could
// want to search for. [Builder.Table] puts them into a [Table], an array of words in memory
// that is searched by prefix.
//
// # What is suggested
//
//   - Titles, without the parts that a site repeats in most of its titles: of "Quickstart |
//     Kafka", the site's other pages also have "| Kafka".
//   - Texts of two or more links to a page. A text that leads to many pages of a site names
//     none of them ("here", "next page") and is left out.
//
// The weight of a title is the rank of its page. The weight of a link text is that rank times the
// share of the page's links that have the text. A text that the query syntax would read as
// something other than words is left out, so that the suggestion finds the page that it came from.
//
// # Why in memory
//
// Each key that a visitor presses is a request, so a request must be cheap. A prefix query of
// FTS5 reads the lists of all words with that prefix, in all texts: for one letter, that is a
// large part of the index. A table in the index files would need a format, and would cost every
// writer a row for each word of a title. The first request builds the table in memory from the
// files: in 0.3 s for 3,000 recorded documents, and in 4.5 s for 100,000 generated ones (on a busy
// machine). It takes about 260 bytes for each text. A keystroke then reads one range of an array,
// in 2 ms at most. The table is bounded: for a larger index, it has the documents with the highest
// ranks.
package completion
