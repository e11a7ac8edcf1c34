package search

import (
	"strings"
	"unicode"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/page"
)

// A site often has one page in several versions (/1.25/guide, /1.26/guide) and languages
// (/fr/guide, guide.html.fr). Their addresses differ only in a few places, and a pageKey
// separates these places from the rest.
//
// A date in an address, as in /2024/05/31/, counts as a version only if nothing else does: the
// announcement of version 1.26 is of that version, whenever it was published.
//
// There is no list of sites or of their schemes: whatever looks like a version, a date or a
// language counts as one, and the rules in fold.go require more than the address before
// they treat two pages as one.

// pageKey has what versions and translations of a page share, and what distinguishes them.
type pageKey struct {
	host, path, title string // without versions, dates and languages; the title folded
	hash              uint64 // of host and path

	unversioned string // the title as written, but without versions
	name        string // in the address (pagename.go)

	version  pageVersion
	language string // in the address, "" if there is none
	// waiting is the key that the page has if it waits for its translation, so that its address
	// names a language that it is not in. It is nil if the address names no language (waiting.go).
	waiting *pageKey
	unread  string // the first part of the address that may be another language
	// numbered says that the address has a version or a date in a place where other pages
	// have a number: /34/guide, /2024/05/guide, tool-1.2-released. Different pages can
	// also differ in these.
	numbered bool
	dated    bool // the address has a date
	// addressed says that the version is in the address. A number in a title may be that of a
	// chapter.
	addressed bool
}

// makePageKey reads the address and the title of a document in a language.
func makePageKey(u page.URL, title, language string) *pageKey {
	k := readPageKey(u, title, language)
	if k.language == "" && k.unread != "" {
		k.waiting = readPageKey(u, title, k.unread)
	}
	return k
}

// readPageKey returns the key without waiting, the key of a page that waits for its translation.
func readPageKey(u page.URL, title, language string) *pageKey {
	k := &pageKey{host: HostOf(u)}
	_, rest, _ := strings.Cut(string(u), "://")
	_, rest, _ = strings.Cut(rest, "/")
	rest, query, _ := strings.Cut(rest, "?")
	segments := strings.Split(rest, "/")
	k.dated = hasDate(segments)
	var path strings.Builder
	for i, s := range segments {
		last := i == len(segments)-1
		if k.takeSegment(s, last, language) {
			continue
		}
		if path.Len() > 0 {
			path.WriteByte('/')
		}
		path.WriteString(k.bareSegment(s, last, language))
	}
	if query = k.bareQuery(query, language); query != "" {
		path.WriteString("?" + query)
	}
	k.addressed = len(k.version.numbers) > 0 && !k.isDate()
	k.path = path.String()
	k.name = nameInPath(k.path)
	k.hash = xxhash.Sum64String(k.host + "/" + k.path)
	k.title = k.bareTitle(title)
	k.unversioned = title
	if k.version.text != "" {
		k.unversioned = WithoutVersions(title)
	}
	return k
}

// takeSegment takes a whole segment of a path that is a version, a number or a language.
func (k *pageKey) takeSegment(s string, last bool, language string) bool {
	if k.takeLanguage(s, language) {
		return true
	}
	if v, ok := parseVersion(s); ok {
		k.takeVersion(v)
		return true
	}
	if !last && isNumber(s) {
		k.version.take(pageVersion{numbers: []string{s}, text: s, counted: true})
		k.numbered = true
		return true
	}
	return false
}

// takeVersion takes a version that was found. It replaces a date.
func (k *pageKey) takeVersion(v pageVersion) {
	if k.isDate() {
		k.version = pageVersion{}
	}
	k.version.take(v)
}

// isDate reports whether the version so far is a date.
func (k *pageKey) isDate() bool { return k.dated && k.version.counted }

// hasDate reports whether segments of a path are a year and a month.
func hasDate(segments []string) bool {
	for i := range segments[:len(segments)-1] {
		year, month := segments[i], segments[i+1]
		if len(year) == 4 && isNumber(year) && (year[:2] == "19" || year[:2] == "20") && isNumber(month) && len(month) <= 2 {
			return true
		}
	}
	return false
}

// takeLanguage takes a part of an address that names the language of the page. The page
// must be in that language, because /it/ and /no/ can also be other directories; a
// language with a region (pt-BR) is always a language.
func (k *pageKey) takeLanguage(s, language string) bool {
	base := analysis.PrimaryLanguage(s)
	if k.language != "" || len(s) > len("zh-hans") || len(base) != 2 {
		return false
	}
	if base != analysis.PrimaryLanguage(language) && !hasRegion(s) {
		if k.unread == "" && analysis.MayBeLanguage(s) {
			k.unread = s
		}
		return false
	}
	k.language = strings.ToLower(s)
	return true
}

// hasRegion reports whether s is written like pt-BR or pt_BR.
func hasRegion(s string) bool {
	lower := func(c byte) bool { return c >= 'a' && c <= 'z' }
	upper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	return len(s) == 5 && lower(s[0]) && lower(s[1]) && (s[2] == '-' || s[2] == '_') && upper(s[3]) && upper(s[4])
}

// bareSegment returns a segment without the versions and the language in it:
// tool-1.2-released is tool-released, and index.html.fr is index.html.
func (k *pageKey) bareSegment(s string, last bool, language string) string {
	if last {
		if i := strings.LastIndexByte(s, '.'); i > 0 && k.takeLanguage(s[i+1:], language) {
			s = s[:i]
		} else if j := strings.LastIndexByte(s[:max(i, 0)], '.'); j > 0 && k.takeLanguage(s[j+1:i], language) {
			s = s[:j] + s[i:]
		} else if j := strings.LastIndexAny(s[:max(i, 0)], "_-"); j > 0 && k.takeLanguage(s[j+1:i], language) {
			s = s[:j] + s[i:]
		}
	}
	if strings.IndexFunc(s, unicode.IsDigit) < 0 {
		return s
	}
	stem, ending := s, ""
	if i := strings.LastIndexByte(s, '.'); last && i > 0 && analysis.FileType(s[i+1:]) != "" {
		stem, ending = s[:i], s[i:]
	}
	parts := strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' })
	kept := parts[:0]
	for _, p := range parts {
		if v, ok := parseVersion(p); ok && len(v.numbers) > 0 {
			k.takeVersion(v)
			k.numbered = true
			continue
		}
		kept = append(kept, k.withoutVersionBehind(p))
	}
	return strings.Join(kept, "-") + ending
}

// withoutVersionBehind returns a part of a segment without the version that follows its
// name and a dot: release.1.26.0 is release. A single number is a part of the name.
func (k *pageKey) withoutVersionBehind(part string) string {
	name, version, found := strings.Cut(part, ".")
	if !found || name == "" {
		return part
	}
	v, ok := parseVersion(version)
	if !ok || len(v.numbers) < 2 {
		return part
	}
	k.takeVersion(v)
	k.numbered = true
	return name
}

// bareQuery returns the parameters of a URL without the language.
func (k *pageKey) bareQuery(query, language string) string {
	if query == "" {
		return ""
	}
	var kept []string
	for p := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(p, "=")
		switch strings.ToLower(name) {
		case "lang", "language", "locale", "hl":
			if k.takeLanguage(value, language) {
				continue
			}
		}
		kept = append(kept, p)
	}
	return strings.Join(kept, "&")
}

// bareTitle returns the words of a title without versions. A version in the title counts if
// there is none in the address.
func (k *pageKey) bareTitle(title string) string {
	fields := titleFields(strings.ToLower(analysis.Truncate(title, 512)))
	kept := fields[:0]
	for _, f := range fields {
		if v, ok := parseVersion(f); ok && len(v.numbers) > 0 {
			if k.version.text == "" || k.isDate() {
				k.takeVersion(v)
			}
			continue
		}
		kept = append(kept, f)
	}
	return strings.Join(kept, " ")
}

// WithoutVersions returns a title without the versions in it.
func WithoutVersions(title string) string {
	for _, f := range titleFields(title) {
		if v, ok := parseVersion(f); ok && len(v.numbers) > 0 {
			title = strings.Replace(title, f, "", 1)
		}
	}
	return title
}

// titleFields splits a title into words that may be versions.
func titleFields(title string) []string {
	return strings.FieldsFunc(title, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("()[],;:|", r)
	})
}

func isNumber(s string) bool {
	return s != "" && len(s) <= 8 && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
