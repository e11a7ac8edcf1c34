package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// separates reports that an element ends the word before it and begins a new
// one: block-level elements (display: block, list-item, table and its parts in
// the HTML standard's style sheet) and <br>.
func separates(a atom.Atom) bool { return separators[a] }

var separators = func() map[atom.Atom]bool {
	set := make(map[atom.Atom]bool)
	for _, a := range []atom.Atom{
		atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Br,
		atom.Caption, atom.Center, atom.Col, atom.Colgroup, atom.Dd, atom.Details,
		atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset,
		atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Frame,
		atom.Frameset, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Head, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend,
		atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Noframes,
		atom.Ol, atom.Optgroup, atom.Option, atom.P, atom.Plaintext, atom.Pre,
		atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot,
		atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Xmp,
	} {
		set[a] = true
	}
	return set
}()

// isTemplateType tells the scripts whose text is template text: of a text/...
// type that is not one of JavaScript's (MIME Sniffing standard, "JavaScript MIME
// type").
func isTemplateType(essence string) bool {
	subtype, ok := strings.CutPrefix(essence, "text/")
	return ok && !strings.HasPrefix(subtype, "javascript") &&
		subtype != "x-javascript" && subtype != "ecmascript" && subtype != "x-ecmascript" &&
		subtype != "jscript" && subtype != "livescript"
}
