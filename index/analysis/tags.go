package analysis

import (
	"net/netip"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/webindexer/indexer/page"
)

// tags returns the terms that site:, lang: and filetype: look for: every parent domain of the
// host, the host with its port, the language with and without subtags, and the file type.
func tags(u page.URL, language string) string {
	var b strings.Builder
	add := func(kind rune, value string) {
		b.WriteString(Tag(kind, value))
		b.WriteByte(' ')
	}
	if parsed, err := parseURL(u); err == nil && parsed.Host != "" {
		host := strings.ToLower(parsed.Hostname())
		if parsed.Port() != "" {
			add(TagSite, strings.ToLower(parsed.Host))
		}
		add(TagSite, host)
		if _, err := netip.ParseAddr(host); err != nil {
			for i := strings.IndexByte(host, '.'); i >= 0; i = strings.IndexByte(host, '.') {
				host = host[i+1:]
				add(TagSite, host)
			}
		}
		for _, t := range fileTypes(parsed) {
			add(TagFileType, t)
		}
	}
	if language != "" {
		language = strings.ToLower(language)
		add(TagLang, language)
		if p := PrimaryLanguage(language); p != language {
			add(TagLang, p)
		}
	}
	return b.String()
}

// Kinds of tags.
const (
	TagSite     = 's'
	TagLang     = 'l'
	TagFileType = 'f'

	// Private-use characters that occur only in tags.
	firstTag, lastTag = '\uE000', '\uE0FF'
)

// Tag writes a value as one FTS5 token that no text can produce: the kind, and each byte
// that would end a token, become private-use characters.
func Tag(kind rune, value string) string {
	b := utf8.AppendRune(nil, firstTag+kind)
	for i := 0; i < len(value) && i < 255; i++ {
		c := value[i]
		if c < utf8.RuneSelf && c != 0 && asciiFold[c] == c {
			b = append(b, c)
		} else {
			b = utf8.AppendRune(b, firstTag+rune(c))
		}
	}
	return string(b)
}

// TagValue returns the value that Tag wrote.
func TagValue(token string) string {
	var b strings.Builder
	for i, r := range token {
		switch {
		case i == 0: // the kind
		case r >= firstTag && r <= lastTag:
			b.WriteByte(byte(r - firstTag))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maxFileType bounds the length of a file type.
const maxFileType = 10

// fileTypes returns the values of filetype: that find a URL. They come from the URL,
// because people see the URL; the media type that the server sent is not in the index,
// which has only HTML and plain text. A URL without an extension, or with one of a
// program that makes pages, counts as HTML as well. A language after the extension of a
// page, as in index.html.de, is not the file type.
func fileTypes(u *url.URL) []string {
	ending, name := lastExtension(u.Path)
	if inner, _ := lastExtension(name); isPageType(inner) && MayBeLanguage(ending) {
		ending = inner
	}
	switch {
	case ending == "":
		return []string{"html"}
	case isPageType(ending) && ending != "html":
		return []string{ending, "html"}
	}
	return []string{ending}
}

// lastExtension splits a path into its last extension, as FileType returns it, and the rest.
func lastExtension(p string) (ending, rest string) {
	ext := path.Ext(p)
	return FileType(strings.TrimPrefix(ext, ".")), strings.TrimSuffix(p, ext)
}

// isPageType reports whether a file type is that of HTML or of a program that makes it.
func isPageType(t string) bool {
	switch t {
	case "html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cgi":
		return true
	}
	return false
}

// MayBeLanguage reports whether a part of an address is written like a language of ISO 639-1,
// without a region. Those of three letters in ISO 639-3 include "old" and "bak".
func MayBeLanguage(s string) bool {
	if len(s) != 2 {
		return false
	}
	_, err := language.ParseBase(strings.ToLower(s))
	return err == nil
}

// FileTypeOf returns the most general value of filetype: that finds a URL, or "" if there is none.
func FileTypeOf(u page.URL) string {
	parsed, err := parseURL(u)
	if err != nil || parsed.Host == "" {
		return ""
	}
	types := fileTypes(parsed)
	return types[len(types)-1]
}

// FileType returns a file name extension in lower case, or "" if s is not one, as in /v2.4.
func FileType(s string) string {
	s = strings.ToLower(s)
	letters := false
	for _, r := range s {
		if r >= 0x80 || asciiFold[r] == 0 {
			return ""
		}
		letters = letters || r > '9'
	}
	if !letters || len(s) > maxFileType {
		return ""
	}
	return s
}
