package page

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/webindexer/indexer/page/office"
)

// MaxAnchorLength is the maximum number of code points of an anchor; longer ones are cut.
const MaxAnchorLength = 256

// InterpretVersion is the version of [Interpret]. It rises with every change of package
// page, or of page/office, that changes the result for some fetch: another anchor, another
// text, another content key. A repository whose pages were interpreted by another version interprets
// them again when it is opened.
//
//	1    not stored
//	2    the alt of an image is a separate word in an anchor
//	3    frames
//	4,5  outlines
//	6    detected languages that the text does not confirm; the digest in the state of a URL
//	     (schema.URLState) is another one
//	7    a host with a sign before a number, such as "-2", is not an IPv4 address;
//	     <meta charset=x-user-defined>
//	8    a <base> of another scheme; a template in HTML in SVG or MathML
//	9    "^" in a path is escaped; hidden titles, and links in links; control characters of
//	     single-byte character sets; queries in the character set of the page; XML declarations,
//	     and empty elements of XHTML
//	10   queries of rendered forms in the character set of the page; queries in Big5, Japanese sets,
//	     and open bytes of single-byte ones; links up to 256 MiB of targets
//	11   codes of four bytes in GBK
//	12   docx documents without the pronunciation of words; OpenDocument without hidden sheets, slides,
//	     sections and words
//	13   docx links that contain fields; files of documents in UTF-16; a host with two closing
//	     brackets, as in "[::1]]", is none; hidden text and ends of blocks more than 256 elements deep
//	14   bases with escapes in escapes; scripts of types that only begin like JavaScript;
//	     implied ends of elements in pages nested very deeply, and in those with millions of tags
//	15   pages with millions of attributes, or with very many end tags that have no element;
//	     <html lang> in SVG, or in the body of a page nested very deeply; private characters of Shift_JIS, and bytes that
//	     make no character with ASCII in Shift_JIS and Big5; titles of sections that follow their permalinks
const InterpretVersion = 15

// Interpret returns what a fetch means on its own: the outcome of semantics.md section
// 2 and, for pages, the properties of section 3. It never fails, whatever the body
// holds. The result depends only on f and keeps no reference to f.Body.
//
// A revisit has no payload and so means nothing on its own: its outcome is Unfetched.
func Interpret(f *Fetch) Document { return interpret(f, nil) }

// interpret also takes note of scripts, unless s is nil.
func interpret(f *Fetch, s *scripting) Document {
	switch {
	case f.Err != "":
		return Document{Outcome: Failed}
	case f.IsRevisit():
		return Document{Outcome: Unfetched}
	case f.Status == http.StatusNotFound || f.Status == http.StatusGone:
		return Document{Outcome: Gone}
	case isRedirectStatus(f.Status):
		return interpretRedirect(f)
	case !isSuccessStatus(f.Status):
		return Document{Outcome: Failed}
	case f.URL.IsRobotsTxt():
		return Document{Outcome: Other}
	}
	k := bodyKind(f)
	body, err := readBody(f, k)
	if err != nil {
		return Document{Outcome: Other}
	}
	return interpretPage(f, k, body, s)
}

var errNoText = errors.New("the response is neither HTML nor plain text")

// readBody returns a body as valid UTF-8. What k says about the body holds for the result,
// except that an office document or a PDF document has become HTML.
func readBody(f *Fetch, k kind) ([]byte, error) {
	switch k {
	case kindOther:
		return nil, errNoText
	case kindOffice:
		return office.HTML(officeKind(f), f.Body)
	case kindReading:
		if f.Reading.Failed {
			return nil, errors.New(string(f.Body))
		}
		return bytes.ToValidUTF8(f.Body, []byte("\uFFFD")), nil
	}
	return decode(f.Body, f.Header.Get("Content-Type"), k), nil
}

// WhyNoText says why a response with a status of 2xx has the outcome Other; nil if it has
// another one.
func WhyNoText(f *Fetch) error {
	if f.URL.IsRobotsTxt() {
		return errors.New("it is a robots.txt, which is never indexed")
	}
	_, err := readBody(f, bodyKind(f))
	return err
}

// IsRevisit reports whether the fetch has no payload because the page is unchanged. Such
// a fetch renews only the time.
func (f *Fetch) IsRevisit() bool {
	return f.Err == "" && (f.Revisit || f.Status == http.StatusNotModified)
}

func isSuccessStatus(status int) bool { return 200 <= status && status <= 299 }

func isRedirectStatus(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func interpretRedirect(f *Fetch) Document {
	location := strings.TrimSpace(f.Header.Get("Location"))
	if location == "" {
		return Document{Outcome: Failed}
	}
	var r robots
	r.addHeader(f.Header)
	doc := Document{Outcome: Redirect, NoIndex: r.noIndex, NoFollow: r.noFollow}
	// If Location is not an http or https URL, Target stays empty.
	doc.Target, _ = f.URL.Resolve(location)
	return doc
}

func interpretPage(f *Fetch, k kind, body []byte, s *scripting) Document {
	x := extractors.Get().(*extractor)
	defer x.release()
	x.scripting = s
	c := x.read(k, f.Header.Get("Content-Type"), body, f.Body)
	return c.document(f)
}

// canonicalTarget returns the first rel=canonical that is an http or https URL, taking the
// HTML before the header, or "" if that is the page itself.
func canonicalTarget(f *Fetch, base *Resolver, inHTML []string) URL {
	target := firstURL(base, inHTML)
	if target == "" {
		// The header's references are relative to the page, not to <base>.
		target = firstURL(NewResolver(f.URL), headerCanonicals(f.Header))
	}
	if target == f.URL {
		return ""
	}
	return target
}

func firstURL(base *Resolver, refs []string) URL {
	for _, ref := range refs {
		if u, err := base.Resolve(ref); err == nil {
			return u
		}
	}
	return ""
}

// kind says how to read a body.
type kind uint8

const (
	kindOther kind = iota
	kindHTML
	kindText
	kindOffice
	kindReading
)

// bodyKind uses the media type. If that is missing or malformed, it sniffs the body (MIME
// Sniffing standard, as implemented by net/http). By that standard an office document without
// a media type is only a ZIP archive.
func bodyKind(f *Fetch) kind {
	mediaType := essence(f.Header.Get("Content-Type"))
	if !strings.Contains(mediaType, "/") {
		mediaType = essence(http.DetectContentType(f.Body))
	}
	switch mediaType {
	case "text/html", "application/xhtml+xml":
		return kindHTML
	case "text/plain":
		return kindText
	}
	switch {
	case f.Office && officeKind(f) != office.None:
		return kindOffice
	case f.Reading.Exists() && isPDF(f):
		return kindReading
	}
	return kindOther
}
