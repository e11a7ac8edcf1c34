package page

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A page has a second form if scripts make its text: the document after they have run in a
// browser (docs/semantics.md, "Rendering"). This file decides which pages need that, and reads the
// second form. The browser is in package render.

// Examined says what matters for rendering about a fetch that is a page.
type Examined struct {
	HTML bool   // only HTML can be rendered
	Why  string // why scripts seem to make the text; "" if they do not
}

// Examine is Interpret, and says whether the page has to be rendered to be understood. Like
// Interpret it depends only on f.
func Examine(f *Fetch) (Document, Examined) {
	var s scripting
	doc := interpret(f, &s)
	if doc.Outcome != Page || bodyKind(f) != kindHTML {
		return doc, Examined{}
	}
	return doc, Examined{HTML: true, Why: s.reason(doc.Text)}
}

// InterpretForm returns what a page means by its rendered form. raw is the result of
// Interpret for f, a page with its body, and form is the document after its scripts, as HTML in
// UTF-8.
//
// Title, text, language, outline, links, frames and rel=canonical come from the form, and the
// canonical link of the response's header still counts. Of the robots directives of both, the
// stricter hold. A form is always a page: a script cannot make the page a redirect.
func InterpretForm(f *Fetch, raw *Document, form []byte) Document {
	if !utf8.Valid(form) {
		form = bytes.ToValidUTF8(form, []byte("\uFFFD"))
	}
	x := extractors.Get().(*extractor)
	defer x.release()
	x.robots = robots{noIndex: raw.NoIndex, noFollow: raw.NoFollow}
	x.html(form)
	c := x.content()
	c.encodeQueries(f.Body, f.Header.Get("Content-Type")) // scripts cannot change the character set
	c.refresh = ""
	// Template text does not count here: it distinguishes pages that show it by script, and
	// a rendered text includes what they show. If a form has little text, the key is that
	// of the whole form, because pages of one application often have the same body.
	if c.key = sha256.Sum256(form); !isShell(x.text.buf, nil) {
		c.key = contentKey(x.title.buf, x.text.buf, nil, nil)
	}
	return c.document(f)
}

// scripting counts what tells a page that is made by scripts from one that only has some.
type scripting struct {
	scripts int // with a src, or long enough to write text
	asks    bool
	mount   string // an empty element that an application fills
}

// The limits of words, above which a page counts as readable without its scripts. The surer
// the sign, the higher the limit: an empty element named "root" is there to be filled, but
// nearly all pages have some script.
const (
	wordsBesideMount    = 200
	wordsBesideNoscript = 50
	wordsBesideScript   = 20
	// bytesPerWord estimates the number of words from the length of a text. Counting spaces
	// would find one word in a Chinese page.
	bytesPerWord = 6
	// longScript is the length in bytes from which an inline script may write the text.
	longScript = 512
)

// reason says why a page with this text has to be rendered, "" if it need not be.
func (s *scripting) reason(text string) string {
	words := len(text) / bytesPerWord
	switch {
	case s.scripts == 0 && s.mount == "":
		return ""
	case s.mount != "" && words < wordsBesideMount:
		return fmt.Sprintf("about %d words beside an empty element that scripts fill (%s)", words, s.mount)
	case s.asks && words < wordsBesideNoscript:
		return fmt.Sprintf("about %d words, and a noscript element asks for JavaScript", words)
	case s.scripts > 0 && words < wordsBesideScript:
		return fmt.Sprintf("about %d words beside scripts", words)
	}
	return ""
}

// enter takes note of an element of the page; s may be nil.
func (s *scripting) enter(n *html.Node) {
	if s == nil {
		return
	}
	switch n.DataAtom {
	case atom.Script:
		s.enterScript(n)
	case atom.Noscript:
		s.asks = s.asks || asksForScript(n)
	case atom.Div, atom.Main, atom.Section, atom.Body, 0: // 0: a custom element
		if s.mount == "" {
			s.mount = mountOf(n)
		}
	}
}

func (s *scripting) enterScript(n *html.Node) {
	mediaType, _ := attribute(n, "type")
	if t := essence(mediaType); t != "" && t != "module" && !strings.HasSuffix(t, "javascript") && !strings.HasSuffix(t, "ecmascript") {
		return // data, or a template
	}
	if src, _ := attribute(n, "src"); src != "" {
		s.scripts++
		return
	}
	length := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		length += len(c.Data)
	}
	if length >= longScript {
		s.scripts++
	}
}

// asksForScript reports whether the content of a noscript element tells people to turn
// JavaScript on. Images that count visitors do not.
func asksForScript(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode && strings.Contains(strings.ToLower(c.Data), "javascript") || asksForScript(c) {
			return true
		}
	}
	return false
}

// mountOf describes an empty element with a name that frameworks give to the element that
// they fill; "" for other elements.
func mountOf(n *html.Node) string {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && c.DataAtom != atom.Noscript || c.Type == html.TextNode && strings.Trim(c.Data, htmlSpace) != "" {
			return ""
		}
	}
	if n.Data == "app-root" || n.Data == "my-app" {
		return "<" + n.Data + ">"
	}
	switch id, _ := attribute(n, "id"); id {
	case "root", "app", "application", "app-root", "main-app", "react-root", "__next", "__nuxt", "___gatsby", "svelte", "mount", "ember-app":
		return "#" + id
	}
	return ""
}
