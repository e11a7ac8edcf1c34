package page

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// visitTags visits the elements of a page as its tags are written. Of the standard's repairs it makes those
// that matter most: start tags end elements whose end tags may be left out. It makes no tree, so it takes
// little memory.
func visitTags(body []byte, v visitor) {
	r := tagReader{visitor: v, z: html.NewTokenizer(bytes.NewReader(body)), names: make(map[string]int)}
	for {
		switch token := r.z.Next(); token {
		case html.ErrorToken:
			r.closeTo(0)
			return
		case html.TextToken:
			r.text()
		case html.StartTagToken, html.SelfClosingTagToken:
			r.start(r.z.Token(), token == html.SelfClosingTagToken)
		case html.EndTagToken:
			r.end(r.z.Token())
		}
	}
}

// tagReader has the elements whose ends have not been reached.
type tagReader struct {
	visitor
	z     *html.Tokenizer
	open  []*html.Node
	names map[string]int // how many are open, by name
}

// mostOpenTags bounds the open elements. Elements beyond it count as empty.
const mostOpenTags = 1 << 16

func (r *tagReader) top() *html.Node {
	if len(r.open) == 0 {
		return nil
	}
	return r.open[len(r.open)-1]
}

func (r *tagReader) text() {
	r.once(&html.Node{Type: html.TextNode, Data: r.z.Token().Data, Parent: r.top()})
}

// once visits a node without children.
func (r *tagReader) once(n *html.Node) {
	r.enter(n)
	r.leave(n)
}

// start begins an element. Only in SVG and MathML is it complete if it closes itself.
func (r *tagReader) start(t html.Token, closesItself bool) {
	r.closeImplied(t.DataAtom)
	n := &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr, Parent: r.top()}
	switch {
	case isRawText(t.DataAtom):
		r.rawText(n)
	case isVoid(t.DataAtom) || closesItself && r.names["svg"]+r.names["math"] > 0 || len(r.open) == mostOpenTags:
		r.once(n)
	default:
		r.enter(n)
		r.open = append(r.open, n)
		r.names[n.Data]++
	}
}

// rawText visits an element that has nothing but text inside, which the tokenizer returns as one. Its end tag finds
// nothing to end.
func (r *tagReader) rawText(n *html.Node) {
	if r.z.Next() == html.TextToken {
		n.AppendChild(&html.Node{Type: html.TextNode, Data: r.z.Token().Data})
	}
	if r.enter(n) && n.FirstChild != nil {
		r.once(n.FirstChild)
	}
	r.leave(n)
}

// isRawText reports whether the tokenizer finds no tags inside an element.
func isRawText(a atom.Atom) bool {
	switch a {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Plaintext, atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
		return true
	}
	return false
}

// end ends the innermost open element of that name and all elements inside it. An end tag without a start tag
// is ignored, except those of paragraphs, and where elements may be missing among the open ones.
func (r *tagReader) end(t html.Token) {
	if r.names[t.Data] == 0 {
		if t.DataAtom == atom.P || t.DataAtom == atom.Br || len(r.open) == mostOpenTags && separates(t.DataAtom) {
			r.once(&html.Node{Type: html.ElementNode, Data: "br", DataAtom: atom.Br, Parent: r.top()})
		}
		return
	}
	i := len(r.open) - 1
	for r.open[i].Data != t.Data {
		i--
	}
	r.closeTo(i)
}

// closeTo ends the open elements from the innermost one to the i-th.
func (r *tagReader) closeTo(i int) {
	for len(r.open) > i {
		n := r.top()
		r.open = r.open[:len(r.open)-1]
		r.names[n.Data]--
		r.leave(n)
	}
}

// mostImplied is how many elements a start tag searches for those that it ends.
const mostImplied = 32

// closeImplied ends the elements that a start tag ends. It does not look beyond a table or a list.
func (r *tagReader) closeImplied(start atom.Atom) {
	outermost := len(r.open)
	for i := len(r.open) - 1; i >= max(0, len(r.open)-mostImplied); i-- {
		if endsBefore(r.open[i].DataAtom, start) {
			outermost = i
		}
		switch r.open[i].DataAtom {
		case atom.Table, atom.Template, atom.Object, atom.Ul, atom.Ol, atom.Dl, atom.Select, atom.Button:
			r.closeTo(outermost)
			return
		}
	}
	r.closeTo(outermost)
}

// endsBefore reports whether an open element ends before a start tag inside it.
func endsBefore(open, start atom.Atom) bool {
	switch open {
	case atom.A, atom.Li, atom.Nobr, atom.Optgroup:
		return start == open
	case atom.Option:
		return start == atom.Option || start == atom.Optgroup
	case atom.Dd, atom.Dt:
		return start == atom.Dd || start == atom.Dt
	case atom.Td, atom.Th:
		return start == atom.Td || start == atom.Th || endsBefore(atom.Tr, start)
	case atom.Tr:
		return start == atom.Tr || endsBefore(atom.Tbody, start)
	case atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption, atom.Colgroup:
		return start == atom.Tbody || start == atom.Thead || start == atom.Tfoot
	case atom.P:
		return endsParagraph(start)
	}
	return false
}

func endsParagraph(start atom.Atom) bool {
	switch start {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div,
		atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4,
		atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P,
		atom.Plaintext, atom.Pre, atom.Section, atom.Summary, atom.Table, atom.Ul, atom.Xmp:
		return true
	}
	return false
}
