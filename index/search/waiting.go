package search

// Many sites have pages that wait for their translation: guide.ro.html is in English, like
// guide.en.html. Others are translated in part, and may look like English. The page alone does not show
// this, since /ro/ may be any directory, and program.cs.html is the listing of a program. But other
// candidates may differ from it only in that their addresses name the languages that they are in. If two
// of them are in two languages, or one has the same title or says the same as this page, then the address
// of this page also names a language.

// readWaiting finds the candidates of list that wait for their translation, and gives them the keys of
// their languages. above has other candidates that may show this.
func readWaiting(above, list []candidate) {
	for i := range list {
		if c := &list[i]; c.key.waiting != nil && c.waits(above, list) {
			c.key = c.key.waiting
		}
	}
}

// waits reports whether a page waits for its translation, as the candidates of lists show.
func (c *candidate) waits(lists ...[]candidate) bool {
	var one *candidate // a translation of the page, if both addresses name languages
	for _, list := range lists {
		for i := range list {
			o := &list[i]
			switch {
			case !c.differsInLanguage(o):
			case one != nil && !sameLanguage(one.language, o.language):
				return true
			case sameLanguage(c.language, o.language) && (c.key.waiting.title == o.key.title || c.saysTheSame(o)):
				return true
			default:
				one = o
			}
		}
	}
	return false
}

// differsInLanguage reports whether the address of another page names the language of that page, and
// differs in nothing else.
func (c *candidate) differsInLanguage(o *candidate) bool {
	a, b := c.key.waiting, o.key
	return a.hash == b.hash && a.host == b.host && a.path == b.path && a.version.text == b.version.text &&
		b.language != "" && sameLanguage(b.language, o.language)
}
