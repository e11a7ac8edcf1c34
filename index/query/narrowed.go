package query

// Narrowed says which operators hold for all of a query and exclude nothing, as Narrow adds
// them. Two of one kind find the documents of either, so such a query is not narrowed further by
// another one.
type Narrowed struct{ Site, Lang, FileType bool }

// NarrowedBy reads a query. An operator that excludes, stands in quotes, or is one side of OR
// does not count.
func NarrowedBy(q string) (n Narrowed) {
	s, err := parseQuery(q)
	if err != nil {
		return n
	}
	for _, c := range s.clauses {
		if c.exclude {
			continue
		}
		switch c.kind {
		case clauseSite:
			n.Site = true
		case clauseLang:
			n.Lang = true
		case clauseFileType:
			n.FileType = true
		}
	}
	return n
}
