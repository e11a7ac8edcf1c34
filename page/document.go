package page

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// Document is the result of Interpret: everything that semantics.md section 3 defines
// and that depends on one fetch only.
type Document struct {
	Outcome Outcome

	// Title, Text and Language are set for pages. White space is collapsed.
	// Language is a lower-case BCP 47 tag ("en", "pt-br"), "" if unknown.
	Title, Text, Language string

	// Outline is the [Outline] of a page, encoded: [DecodeOutline] decodes it.
	Outline string

	// Target is the target of a redirect (empty unless Location is an http or https URL),
	// or the rel=canonical of a page if that is another URL.
	Target URL

	NoIndex, NoFollow bool

	// Links are the counting links without repetitions, in the order of the page.
	// Empty except for pages.
	Links []Link

	// Frames are the URLs of <frame> and <iframe> elements without repetitions, in the order
	// of the page. A crawler follows them, but they are not links. Empty except for pages
	// without nofollow.
	Frames []URL

	// Key is the content key of a page; zero otherwise.
	Key ContentKey
}

// Link is a counting link of a page.
type Link struct {
	Target URL
	Anchor string // visible text, white space collapsed, at most 256 code points
}

// ContentKey is a SHA-256 that is equal for pages with the same content.
type ContentKey [32]byte

// shellLength is the minimum number of code points of text and template text. The key of
// a page with less is the hash of its raw body.
const shellLength = 64

// contentKey computes the key of a page (semantics.md section 3, "Content key").
func contentKey(title, text, template, body []byte) (k ContentKey) {
	if isShell(text, template) {
		return sha256.Sum256(body)
	}
	newline := []byte{'\n'}
	h := sha256.New()
	for _, b := range [][]byte{title, newline, text, newline, template} {
		h.Write(b) // never fails
	}
	h.Sum(k[:0])
	return k
}

// If a text has MinKeyed bytes or more, the key always depends on title and text; for a
// shorter one, it may be that of the raw body.
const MinKeyed = utf8.UTFMax * shellLength

// isShell reports whether there is too little text to tell pages apart. It counts code
// points only if the bytes leave that open.
func isShell(text, template []byte) bool {
	return len(text) < MinKeyed && len(template) < MinKeyed &&
		utf8.RuneCount(text)+utf8.RuneCount(template) < shellLength
}

// String returns the key in lower-case hex.
func (k ContentKey) String() string { return hex.EncodeToString(k[:]) }

// Outcome is what a fetch says about its URL (semantics.md section 2).
type Outcome uint8

// The outcomes. The numbers are stored: never reuse one.
const (
	// Unfetched: there is no fetch that counts.
	Unfetched Outcome = 0
	// Page: 2xx with an HTML or plain-text body.
	Page Outcome = 1
	// Redirect: 301, 302, 303, 307 or 308 with a Location, or an HTML page whose
	// meta refresh has a delay of 0 and a URL.
	Redirect Outcome = 2
	// Gone: 404 or 410.
	Gone Outcome = 3
	// Failed: any other status, a network error, an unreadable body. An earlier fetch
	// stays in force.
	Failed Outcome = 4
	// Other: 2xx of another media type, and robots.txt.
	Other Outcome = 5
)

var outcomeNames = [...]string{"unfetched", "page", "redirect", "gone", "failed", "other"}

// String returns the name used in JSON and on the command line.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "invalid"
}
