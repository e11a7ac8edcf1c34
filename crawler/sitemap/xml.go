package sitemap

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/webindexer/indexer/page"
)

// maxNesting is how many open elements are tracked. Deeper content is read as if its
// tags were missing; no entry is that deep.
const maxNesting = 64

// element is an open element.
type element struct {
	name xml.Name
	base *page.Resolver // for its content: its own xml:base, or its parent's
}

// xmlReader handles the tokens of one file. The decoder returns raw tokens: xmlReader
// matches the tags in a way that survives unclosed ones.
type xmlReader struct {
	*parser
	in      *input
	decoder *xml.Decoder
	dialect *dialect // nil before the root element
	open    []element
	entry   *draft // nil outside entries
	depth   int    // len(open) within entry's own element
	field   role   // of the child being read
	text    strings.Builder
	stray   bool // a stray end tag was reported
}

func (p *parser) readXML(in *input) {
	x := &xmlReader{parser: p, in: in, decoder: xml.NewDecoder(in)}
	x.decoder.Strict = false
	x.decoder.Entity = xml.HTMLEntity
	x.decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for more := true; more; {
		in.newToken()
		end := x.decoder.InputOffset()
		token, err := x.decoder.RawToken()
		if err != nil {
			x.stop(err, x.decoder.InputOffset() > end)
			return
		}
		more = x.take(token)
	}
}

// take handles one token and reports whether to continue.
func (x *xmlReader) take(token xml.Token) bool {
	switch t := token.(type) {
	case xml.StartElement:
		return x.start(t)
	case xml.EndElement:
		return x.end(t.Name)
	case xml.CharData:
		if x.field != noRole || x.entry != nil && x.dialect.bareText && len(x.open) == x.depth {
			x.text.Write(t)
		}
	}
	return true
}

func (x *xmlReader) start(t xml.StartElement) bool {
	if x.dialect == nil && !x.root(t.Name) {
		return false
	}
	if x.entry != nil && len(x.open) == x.depth && local(t.Name) == x.dialect.entry {
		// The entry before was not closed.
		x.endField()
		x.open = x.open[:x.depth-1]
		if !x.endEntry() {
			return false
		}
	}
	if len(x.open) == maxNesting {
		return true
	}
	x.open = append(x.open, element{t.Name, x.baseOf(t)})
	switch {
	case x.entry == nil && local(t.Name) == x.dialect.entry:
		x.beginEntry(t)
	case x.entry != nil && len(x.open) == x.depth+1:
		x.beginField(t)
	}
	return true
}

// root chooses the dialect by the root element.
func (x *xmlReader) root(name xml.Name) bool {
	x.dialect = dialects[local(name)]
	if x.dialect == nil {
		x.problem(fmt.Errorf("the root element <%s> belongs to neither a sitemap nor a feed", abbreviate(name.Local)))
		return false
	}
	x.out.Kind = x.dialect.kind
	if x.out.Kind == Index && x.opts.Depth >= MaxDepth {
		x.problem(errTooDeep)
		return false
	}
	return true
}

// baseOf returns the base of t's content (XML Base; Atom uses it).
func (x *xmlReader) baseOf(t xml.StartElement) *page.Resolver {
	base := x.base
	if len(x.open) > 0 {
		base = x.open[len(x.open)-1].base
	}
	if ref := attr(t, "xml", "base"); ref != "" && x.dialect.relative {
		if u, err := base.Resolve(ref); err == nil {
			return base.Rebase(u)
		}
	}
	return base
}

// end closes the innermost open element of that name and all within it.
func (x *xmlReader) end(name xml.Name) bool {
	i := len(x.open) - 1
	for i >= 0 && x.open[i].name != name {
		i--
	}
	if i != len(x.open)-1 && !x.stray && len(x.open) < maxNesting {
		x.stray = true // report it once a file, which may be a page of HTML
		x.problem(fmt.Errorf("</%s>: %w", abbreviate(name.Local), errStray))
	}
	if i < 0 {
		return true
	}
	x.open = x.open[:i]
	if x.entry != nil && i <= x.depth {
		x.endField()
	}
	if x.entry != nil && i < x.depth {
		return x.endEntry()
	}
	return true
}

// stop ends the reading at an error of the decoder or of the input. An entry that has
// begun counts if its URL is complete: anything read after it, if only the "<" of its
// end tag, shows that.
func (x *xmlReader) stop(err error, moreRead bool) {
	if errors.Is(err, io.EOF) && len(x.open) == 0 && x.dialect != nil {
		return
	}
	if x.entry != nil {
		if !moreRead && trim(x.text.String()) != "" {
			x.text.Reset()
			if x.field <= fallbackRole {
				x.problem(errCut)
			}
		}
		x.endField()
		if x.entry.found() && !x.endEntry() {
			return
		}
	}
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the file ends too early: %w", io.ErrUnexpectedEOF)
	}
	x.problem(err)
}

// problem reports err at the decoder's position.
func (x *xmlReader) problem(err error) {
	line, column := x.decoder.InputPos()
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
		err = fmt.Errorf("XML: %s; the rest is left out", abbreviate(syntax.Msg))
	}
	x.problems.add(line, column, err)
}

func local(name xml.Name) string { return strings.ToLower(name.Local) }

// attr returns the value of an attribute; a space of "*" stands for any prefix.
func attr(t xml.StartElement, space, name string) string {
	for _, a := range t.Attr {
		if (space == "*" || a.Name.Space == space) && local(a.Name) == name {
			return a.Value
		}
	}
	return ""
}

// abbreviate keeps hostile text out of messages.
func abbreviate(s string) string {
	const limit = 100
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
