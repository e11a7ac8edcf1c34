package index

import (
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Many sites have pages that wait for their translation: guide.ro.html is in English, like
// guide.en.html. The page alone does not tell, since /ro/ is a directory elsewhere, and
// program.cs.html is the listing of a program. But if another candidate differs only in that its
// address names the language that both pages are in, and has the same title or says the same, then the
// address of the first one names a language, too.

// mayBeLanguage reports whether a part of an address is written like a language without a region.
func mayBeLanguage(s string) bool {
	if len(s) != 2 {
		return false
	}
	_, err := language.ParseBase(strings.ToLower(s))
	return err == nil
}

// readWaiting finds the candidates of list that wait for their translation, and gives them the keys of
// their languages. above is other candidates that show it.
func readWaiting(above, list []candidate) {
	for i := range list {
		c := &list[i]
		if c.key.waiting == nil {
			continue
		}
		waits := func(o candidate) bool { return c.waitsLike(&o) }
		if slices.ContainsFunc(list, waits) || slices.ContainsFunc(above, waits) {
			c.key = c.key.waiting
		}
	}
}

// waitsLike reports whether a page waits for its translation, as another page shows.
func (c *candidate) waitsLike(o *candidate) bool {
	a, b := c.key.waiting, o.key
	return a.hash == b.hash && a.host == b.host && a.path == b.path && a.version.text == b.version.text &&
		b.language != "" && sameLanguage(b.language, o.language) && sameLanguage(c.language, o.language) &&
		(a.title == b.title || c.saysTheSame(o))
}
