package index

import "strings"

// Terms counts the terms that title and text of a document have for the index: folded,
// cut, and stemmed as its language wants it. It is what other programs are given to
// rank by (package export).
func Terms(title, text, language string) map[string]int {
	c := analyze(&Document{Title: title, Text: text, Language: language})
	terms := make(map[string]int)
	for _, column := range []string{c.title, c.body} {
		for term := range strings.FieldsSeq(column) {
			terms[term]++
		}
	}
	return terms
}
