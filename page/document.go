package page

// Document is what Interpret makes of a fetch: everything semantics.md section
// 3 defines that can be known from this one fetch alone.
type Document struct {
	Outcome Outcome

	// Title, Text and Language are set for pages. White space is collapsed.
	// Language is a lower-case BCP 47 tag ("en", "pt-br"), "" if unknown.
	Title, Text, Language string

	// Target is where the URL says it leads: of a redirect its target (empty
	// when Location names nothing that is an http or https URL), of a page its
	// rel=canonical when that is another URL.
	Target URL

	NoIndex, NoFollow bool

	// Links are the counting links, alike ones once, in the order of the page.
	// Empty for anything but pages.
	Links []Link

	// Frames are the addresses of the frames of a page, each once, in the order of the
	// page: of <frame> and <iframe>. A crawler follows them; they are no links. Empty for
	// anything but pages, and where the page says nofollow.
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
