package page

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// encodeQueries percent-encodes the queries of the references of a page in the page's character set.
func (c *content) encodeQueries(body []byte, contentType string) {
	encode := queryEncoder(body, contentType)
	for ref := range c.refs {
		*ref = encode(*ref)
	}
}

// QueryEncoder returns a function that prepares a reference in an HTML page for URL.Resolve:
// it percent-encodes its query in the character set of the page.
func QueryEncoder(f *Fetch) func(ref string) string {
	return queryEncoder(f.Body, f.Header.Get("Content-Type"))
}

// queryEncoder returns a function that percent-encodes the query of a reference in the character
// set of the page that has it, as the URL standard does for documents: a page in windows-1251 that
// links to "?q=да" means "?q=%E4%E0". Paths are in UTF-8 on every page. The function looks for the
// character set only if it matters.
func queryEncoder(body []byte, contentType string) func(ref string) string {
	charset := sync.OnceValue(func() string {
		label, _ := charsetOf(body, contentType, kindHTML)
		return label
	})
	return func(ref string) string {
		path, query := cutQuery(ref)
		if isASCII(query) {
			return ref
		}
		label := charset()
		if label == "utf-8" || strings.HasPrefix(label, "utf-16") || label == "replacement" {
			return ref // the parser makes it UTF-8
		}
		return path + "?" + encodeQuery(query, label)
	}
}

// refs yields all references of the page that are encoded in its character set.
func (c *content) refs(yield func(ref *string) bool) {
	if !yield(&c.baseRef) || !yield(&c.refresh) {
		return
	}
	for i := range c.links {
		if !yield(&c.links[i].ref) {
			return
		}
	}
	for i := range c.alternates {
		if !yield(&c.alternates[i].ref) {
			return
		}
	}
	for _, list := range [][]string{c.frames, c.canonicals} {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// cutQuery returns what is before and after the question mark of a reference, without fragment.
func cutQuery(ref string) (path, query string) {
	ref, _, _ = strings.Cut(ref, "#")
	path, query, _ = strings.Cut(ref, "?")
	return path, query
}

// encodeQuery encodes runs of characters outside ASCII, and leaves ASCII to the parser.
func encodeQuery(query, label string) string {
	var b strings.Builder
	for query != "" {
		n := runLength(query, true)
		b.WriteString(query[:n])
		query = query[n:]
		n = runLength(query, false)
		encodeRun(&b, query[:n], label)
		query = query[n:]
	}
	return b.String()
}

// runLength returns the length of the run of characters in ASCII, or outside it, that s begins
// with.
func runLength(s string, ascii bool) int {
	for i := range len(s) {
		if (s[i] < utf8.RuneSelf) != ascii {
			return i
		}
	}
	return len(s)
}

// encodeRun writes a run of characters outside ASCII. A character that the set lacks becomes a
// numeric character reference.
func encodeRun(b *strings.Builder, run, label string) {
	e := encodingFor(label)
	if _, single := e.(*charmap.Charmap); !single && twoByteCodes[label] == nil {
		// Encode the run as one if possible: ISO-2022-JP has states.
		if encoded, err := e.NewEncoder().String(run); err == nil {
			escapeQuery(b, encoded)
			return
		}
	}
	for _, r := range run {
		if encoded, ok := encodeRune(r, e, label); ok {
			escapeQuery(b, encoded)
		} else {
			fmt.Fprintf(b, "%%26%%23%d%%3B", r)
		}
	}
}

// escapeQuery writes bytes with those of the standard's special-query percent-encode set escaped.
func escapeQuery(b *strings.Builder, s string) {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"#<>'`, c) >= 0 {
			fmt.Fprintf(b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
}
