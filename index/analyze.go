package index

import (
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"indexer/page"
)

// AnalyzerVersion names what the analysis produces. An index made by another
// version still opens; [Writer.NeedsRebuild] says so, and it is to be made again.
const AnalyzerVersion = 3

// MaxIndexedText is how much of a document's text is searchable, in bytes. All
// of it is stored.
const MaxIndexedText = 2 << 20

// columns is what FTS5 gets of a document: tokens joined by spaces, one string
// for each column of the table fts.
type columns struct {
	title, body, anchors, outside, url, tags string
}

type analyzer struct {
	tokens tokenizer
	out    []byte
}

var analyzers = sync.Pool{New: func() any { return new(analyzer) }}

// analyze makes the columns of a document. Safe for concurrent use.
func analyze(d *Document) columns {
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	st := stemmerFor(d.Language)
	c := columns{
		title: a.column(d.Title, st),
		body:  a.column(cutString(d.Text, MaxIndexedText), st),
		url:   a.column(readableURL(d.URL), st),
		tags:  tags(d.URL, d.Language),
	}
	anchors := sortedAnchors(d)
	c.anchors = a.anchors(anchors, false, st)
	c.outside = a.anchors(anchors, true, st)
	return c
}

// anchors is the column of the anchors that other sites have, or of those that they do not have.
func (a *analyzer) anchors(list []Anchor, others bool, st *stemmer) string {
	a.out = a.out[:0]
	for i := range list {
		if (list[i].Others > 0) != others {
			continue
		}
		if len(a.out) > 0 {
			a.out = append(a.out, anchorBreak...)
		}
		a.add(list[i].Text, st)
	}
	return string(a.out)
}

// anchorBreak is a token that no text has. It stands between two anchors, so
// that no phrase matches across them.
const anchorBreak = "\uE000 "

func (a *analyzer) column(text string, st *stemmer) string {
	a.out = a.out[:0]
	a.add(text, st)
	return string(a.out)
}

// add appends the stemmed tokens of text, each with a space after it.
func (a *analyzer) add(text string, st *stemmer) {
	a.tokens.reset(normalize(text))
	var stems *stemCache
	if st != nil {
		stems = takeStemCache(st)
		defer stems.putBack()
	}
	for a.tokens.next() {
		tok := &a.tokens.tok
		if stems != nil && tok.letters {
			a.out = stems.stem(a.out, tok.text)
		} else {
			a.out = append(a.out, tok.text...)
		}
		a.out = append(a.out, ' ')
	}
	a.tokens.reset("") // the pool shall not keep the text
}

// readableURL is a URL as people read and type it: no scheme, escapes and
// punycode undone where they can be.
func readableURL(u page.URL) string {
	parsed, err := url.Parse(string(u))
	if err != nil || parsed.Host == "" {
		return string(u)
	}
	host := parsed.Hostname()
	if strings.Contains(host, "xn--") {
		if h, err := idna.ToUnicode(host); err == nil {
			host = h
		}
	}
	text := host + " " + parsed.Path
	if parsed.RawQuery != "" {
		q, err := url.QueryUnescape(parsed.RawQuery)
		if err != nil {
			q = parsed.RawQuery
		}
		text += " " + q
	}
	return text
}

// tags are the terms that site:, lang: and filetype: look for: every parent domain of the
// host, the host with its port, the language with and without subtags, and the ending.
func tags(u page.URL, language string) string {
	var b strings.Builder
	add := func(kind rune, value string) {
		b.WriteString(tagToken(kind, value))
		b.WriteByte(' ')
	}
	if parsed, err := url.Parse(string(u)); err == nil && parsed.Host != "" {
		host := strings.ToLower(parsed.Hostname())
		if parsed.Port() != "" {
			add(tagSite, strings.ToLower(parsed.Host))
		}
		add(tagSite, host)
		if _, err := netip.ParseAddr(host); err != nil {
			for i := strings.IndexByte(host, '.'); i >= 0; i = strings.IndexByte(host, '.') {
				host = host[i+1:]
				add(tagSite, host)
			}
		}
		for _, t := range fileTypes(parsed) {
			add(tagFileType, t)
		}
	}
	if language != "" {
		language = strings.ToLower(language)
		add(tagLang, language)
		if p := primary(language); p != language {
			add(tagLang, p)
		}
	}
	return b.String()
}

const (
	tagSite     = 's'
	tagLang     = 'l'
	tagFileType = 'f'

	// Private-use characters that are in tags only.
	firstTag, lastTag = '\uE000', '\uE0FF'
)

// tagToken writes a value as one FTS5 token that no text can produce: bytes that
// would end a token, and the kind, as private-use characters.
func tagToken(kind rune, value string) string {
	b := utf8.AppendRune(nil, firstTag+kind)
	for i := 0; i < len(value) && i < 255; i++ {
		c := value[i]
		if c < utf8.RuneSelf && asciiFold[c] == c {
			b = append(b, c)
		} else {
			b = utf8.AppendRune(b, firstTag+rune(c))
		}
	}
	return string(b)
}

// cutString is the longest prefix of at most n bytes that ends between runes.
func cutString(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
