package web

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// sanitize rewrites a page so that it can only be viewed.
//
// It works on tokens, not on a tree, so its cost depends only on the page's length, even
// with a million nested elements. It drops everything that is not in the lists below, so
// new elements and attributes of HTML stay out until they are added to the lists. It
// escapes all text and attribute values again, and drops constructs that parse as markup
// in one context and as text in another (SVG, MathML, <noscript>, <xmp>, comments).
func sanitize(source string) string {
	var b strings.Builder
	b.Grow(len(source) + 64)
	b.WriteString(copyHead)
	c := copier{out: &b, z: html.NewTokenizer(strings.NewReader(source))}
	for c.next() {
	}
	return b.String()
}

// copyHead begins a copy. Its style is for pages with external style sheets, which are
// most pages. Styles inside the page come later and so take precedence.
const copyHead = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width">` +
	`<style>body{margin:1.5rem auto;max-width:52rem;padding:0 1.25rem;font:16px/1.55 system-ui,sans-serif;color:#1d2125;background:#fff;overflow-wrap:anywhere}` +
	`a{color:#1a4f9c;text-decoration:underline dotted}table{border-collapse:collapse}td,th{padding:.2rem .6rem;text-align:left;vertical-align:top}` +
	`pre{white-space:pre-wrap}img{max-width:100%;height:auto}</style>`

// copier copies harmless tokens from a tokenizer.
type copier struct {
	out *strings.Builder
	z   *html.Tokenizer
	// skipping is the element whose content is being dropped; depth counts the open
	// elements of that name.
	skipping string
	depth    int
	style    bool // in <style>
}

func (c *copier) next() bool {
	switch c.z.Next() {
	case html.ErrorToken:
		return false
	case html.TextToken:
		c.text()
	case html.StartTagToken, html.SelfClosingTagToken:
		c.start(c.z.Token())
	case html.EndTagToken:
		c.end(c.z.Token())
	}
	return true // comments, doctypes
}

func (c *copier) text() {
	switch {
	case c.skipping != "":
	case c.style:
		// CSS does not need "<". Without it, nothing in here can become an element.
		c.out.WriteString(strings.ReplaceAll(string(c.z.Raw()), "<", ""))
	default:
		c.out.WriteString(escaped(c.z.Token().Data))
	}
}

// escaped escapes text, without its null bytes.
func escaped(s string) string { return html.EscapeString(strings.ReplaceAll(s, "\x00", "")) }

func (c *copier) start(t html.Token) {
	void := t.Type == html.SelfClosingTagToken
	if c.skipping != "" {
		if t.Data == c.skipping && !void {
			c.depth++
		}
		return
	}
	if dropped[t.DataAtom] {
		// HTML ignores the slash of <script/>, but <svg/> closes itself.
		if !void || !foreign[t.DataAtom] {
			c.skipping, c.depth = t.Data, 1
		}
		return
	}
	if t.DataAtom == atom.Noscript {
		c.z.NextIsNotRawText() // scripts do not run, so this content is shown
	}
	if !shown[t.DataAtom] {
		return
	}
	if t.DataAtom == atom.Img && !dataImage.MatchString(valueOf(t, "src")) {
		// Show the alternative text of an image that is not inside the page.
		if alt := strings.TrimSpace(valueOf(t, "alt")); alt != "" {
			c.out.WriteString("[" + escaped(alt) + "]")
		}
		return
	}
	c.style = t.DataAtom == atom.Style
	c.out.WriteString("<" + t.Data)
	seen := make(map[string]bool, len(t.Attr))
	for _, a := range t.Attr {
		if !seen[a.Key] { // as in browsers, the first of several counts
			c.attribute(t.DataAtom, a)
		}
		seen[a.Key] = true
	}
	c.out.WriteByte('>')
}

func (c *copier) attribute(of atom.Atom, a html.Attribute) {
	switch {
	case a.Namespace != "":
		return
	case of == atom.A && a.Key == "href":
		a.Key = "title" // show the target of the link, but do not link to it
	case of == atom.Img && a.Key == "src": // start has checked it
	case !attributes[a.Key] && !strings.HasPrefix(a.Key, "aria-"):
		return
	case strings.ContainsFunc(a.Key, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }):
		return
	}
	c.out.WriteString(" " + a.Key + `="` + escaped(a.Val) + `"`)
}

// valueOf returns the value of the first attribute with a name, which is the one that counts.
func valueOf(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Namespace == "" && a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (c *copier) end(t html.Token) {
	if c.skipping != "" {
		if t.Data == c.skipping {
			if c.depth--; c.depth == 0 {
				c.skipping = ""
			}
		}
		return
	}
	if shown[t.DataAtom] {
		c.style = false
		c.out.WriteString("</" + t.Data + ">")
	}
}

// dataImage are images that are in the page. SVG is not: it is a document.
var dataImage = regexp.MustCompile(`^data:image/(png|gif|jpeg|webp|avif);base64,[A-Za-z0-9+/=\s]*$`)

func set[T comparable](list ...T) map[T]bool {
	m := make(map[T]bool, len(list))
	for _, v := range list {
		m[v] = true
	}
	return m
}

// foreign elements start content that is not HTML.
var foreign = set(atom.Svg, atom.Math)

// dropped elements are removed together with their content.
var dropped = set(atom.Script, atom.Template, atom.Iframe, atom.Noembed, atom.Noframes, atom.Svg, atom.Math, atom.Xmp, atom.Plaintext, atom.Title)

// shown elements are copied. Other elements lose their tags but keep their content.
var shown = set(atom.Html, atom.Head, atom.Body, atom.Style,
	atom.Address, atom.Article, atom.Aside, atom.Footer, atom.Header, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hgroup,
	atom.Main, atom.Nav, atom.Section, atom.Blockquote, atom.Dd, atom.Div, atom.Dl, atom.Dt, atom.Figcaption, atom.Figure, atom.Hr,
	atom.Li, atom.Ol, atom.P, atom.Pre, atom.Ul, atom.Menu, atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Br, atom.Cite, atom.Code,
	atom.Data, atom.Dfn, atom.Em, atom.I, atom.Kbd, atom.Mark, atom.Q, atom.Rp, atom.Rt, atom.Ruby, atom.S, atom.Samp, atom.Small,
	atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var, atom.Wbr, atom.Del, atom.Ins, atom.Img, atom.Picture,
	atom.Table, atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr,
	atom.Details, atom.Summary, atom.Fieldset, atom.Legend, atom.Label, atom.Center, atom.Font, atom.Big, atom.Tt, atom.Strike)

// attributes are copied on any element.
var attributes = set("class", "id", "style", "title", "alt", "lang", "dir", "role", "colspan", "rowspan", "headers", "scope", "span",
	"width", "height", "align", "valign", "border", "cellpadding", "cellspacing", "bgcolor", "color", "face", "size", "start", "reversed",
	"value", "type", "datetime", "open", "hidden", "nowrap", "compact")
