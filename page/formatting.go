package page

import (
	"bytes"
	"hash/maphash"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// An HTML parser opens formatting elements again that ended with an element around them: after
// "<p><b><i></p>", each further paragraph gets copies of the <b> and the <i>, with their attributes.
// So x/net/html can make a tree of a gigabyte of 64 KiB of HTML. This file estimates how many elements
// it copies at most. Three attributes count as an element, because they take as much memory.

// Of equal elements, a parser opens three again. It makes eight attempts to end an element that has
// others inside it, and each attempt copies it and three more at most.
const (
	mostEqual    = 3
	mostAttempts = 8
	mostClones   = 4
)

// mostCopies is how many elements x/net/html may copy for a page. They take at most 300 MB, and for
// long pages not much more than the other elements do.
func mostCopies(body []byte) int { return 2<<20 + len(body)/4 }

// takesMuch reports whether x/net/html may make more copies for a page with that many tags. Most pages
// have too few tags for that, and most of the others too few formatting elements.
func takesMuch(body []byte, tags int) bool {
	most := mostCopies(body)
	if weight := tags + len(body)/5; tags*weight <= most { // an attribute has two bytes, and weighs a third
		return false
	}
	bound := copyBound{seen: make(map[uint64]int), seed: maphash.MakeSeed()}
	for rest := body; bound.copies <= most; {
		var found bool
		if _, rest, found = bytes.Cut(rest, []byte{'<'}); !found {
			return false
		}
		bound.add(rest)
	}
	return copiesMoreThan(most, body)
}

// copyBound is a quick estimate of the copies for a page. It takes all tags as written, also those in
// comments and scripts, and no formatting element as closed but links that have no tags inside them.
// So it is too high for most pages, but few have so many different tags that it exceeds mostCopies.
type copyBound struct {
	copies   int
	weight   int // of the formatting elements so far, without links
	links    int // the weight of the links so far that may be open
	heaviest int // the weight of one of these
	others   int // elements that may be inside links

	seen map[uint64]int // how often, by the hash of a tag
	seed maphash.Seed
}

// add adds the text after a "<".
func (c *copyBound) add(tag []byte) {
	c.copies += c.weight + min(c.links, c.heaviest*(1+c.others/mostAttempts))
	weight, length := formattingWeight(tag)
	switch {
	case len(tag) == 0 || tag[0] == '/': // an end tag
	case weight == 0:
		c.others++
	case tag[0]|0x20 == 'a' && endsAtOnce(tag, length):
	case tag[0]|0x20 == 'a':
		c.links += weight
		c.heaviest = max(c.heaviest, weight)
	default:
		h := maphash.Bytes(c.seed, tag[:length])
		if c.seen[h]++; c.seen[h] <= mostEqual {
			c.weight += weight
		}
	}
}

// endsAtOnce reports whether the next tag ends a link, whose tag has a length. A tag with a "<" in it counts as
// open: otherwise a page of unclosed tags would take quadratic time, because all of them end with the same ">".
func endsAtOnce(tag []byte, length int) bool {
	at := bytes.IndexByte(tag, '<')
	if at < length {
		return false
	}
	next := tag[at+1:]
	return len(next) > 2 && next[0] == '/' && next[1]|0x20 == 'a' && endsName(next[2])
}

// copiesMoreThan reports whether x/net/html may copy more elements. It counts a formatting element until an
// end tag ends it for certain (openFormatting), as it does in ordinary pages.
func copiesMoreThan(most int, body []byte) bool {
	f := openFormatting{equal: make(map[string]int)}
	z := html.NewTokenizer(bytes.NewReader(body))
	for f.copies <= most {
		switch token := z.Next(); token {
		case html.ErrorToken:
			return false
		case html.TextToken, html.CommentToken:
			if f.readsDifferently(z.Raw()) {
				return true
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := z.Raw()[1:] // TagName puts the name into lower case
			if weight, length := formattingWeight(raw); weight > 0 {
				tag := string(raw[:length])
				name, _ := z.TagName()
				f.startFormatting(openTag{atom.String(name), tag, weight, len(f.blocks)})
				continue
			}
			name, _ := z.TagName()
			f.start(atom.Lookup(name), token == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := z.TagName()
			f.end(atom.String(name))
		}
	}
	return true
}

// openFormatting has the formatting elements that a parser may open again. An end tag ends the last one
// of its name for certain
//
//   - unless eight elements or more may be open inside it, because the parser gives up after eight attempts;
//   - unless an element began inside it that end tags do not reach beyond, such as a table.
//
// An element that is not ended for certain counts to the end of the page. So does one with mostOpen after it,
// because end tags would take too long to find theirs.
type openFormatting struct {
	copies   int
	weight   int            // of all that may be opened again
	heaviest int            // the weight of one element
	equal    map[string]int // how many there are, by the tag
	open     []openTag      // those of them that an end tag may end for certain
	blocks   []atom.Atom    // elements that may be open and have others inside them
	foreign  []string       // the names of <svg> and <math> elements that may be open
}

// openTag is a formatting element.
type openTag struct {
	name, tag string
	weight    int
	blocks    int // how many of the blocks are not inside it
}

// mostOpen is how many elements an end tag searches for its own.
const mostOpen = 256

// startFormatting begins a formatting element. A link also ends the last one, and so does a <nobr>.
func (f *openFormatting) startFormatting(t openTag) {
	if t.name == "a" || t.name == "nobr" {
		f.end(t.name)
	}
	f.copies += f.weight
	if f.equal[t.tag]++; f.equal[t.tag] <= mostEqual {
		f.weight += t.weight
	}
	f.heaviest = max(f.heaviest, t.weight)
	if f.open = append(f.open, t); len(f.open) > mostOpen {
		f.open = f.open[1:]
	}
}

// start begins another element. Only in SVG and MathML is it complete if it closes itself.
func (f *openFormatting) start(a atom.Atom, closesItself bool) {
	f.copies += f.weight
	switch a {
	case atom.Applet, atom.Caption, atom.Frameset, atom.Marquee, atom.Object, atom.Select, atom.Table, atom.Td, atom.Template, atom.Th:
		f.open = f.open[:0]
	case atom.Svg, atom.Math:
		if !closesItself {
			f.foreign = append(f.foreign, a.String())
		}
	case atom.Desc, atom.Foreignobject, atom.AnnotationXml, atom.Mi, atom.Mn, atom.Mo, atom.Ms, atom.Mtext:
		f.open = f.open[:0]
		if len(f.foreign) > 0 {
			f.foreign = append(f.foreign, "") // HTML inside SVG or MathML, whose end is not sure
		}
	case 0, atom.Abbr, atom.Bdi, atom.Bdo, atom.Cite, atom.Del, atom.Dfn, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Q, atom.Samp, atom.Span,
		atom.Sub, atom.Sup, atom.Time, atom.Var:
		// An end tag ends these without an attempt.
	default:
		if !isVoid(a) {
			f.blocks = append(f.blocks, a)
		}
	}
}

// endBlock reads the end tag of an element that is not a formatting element. It ends the last block for
// certain if it has its name, except for a form, which a parser may ignore.
func (f *openFormatting) endBlock(a atom.Atom) {
	last := len(f.blocks) - 1
	if last < 0 || f.blocks[last] != a || a == atom.Form {
		return
	}
	f.blocks = f.blocks[:last]
	for i := len(f.open) - 1; i >= 0 && f.open[i].blocks > last; i-- {
		f.open[i].blocks = last
	}
}

// end reads an end tag.
func (f *openFormatting) end(name string) {
	f.copies += f.weight
	if n := len(f.foreign); n > 0 && f.foreign[n-1] == name {
		f.foreign = f.foreign[:n-1]
	}
	if !isFormatting([]byte(name)) {
		f.endBlock(atom.Lookup([]byte(name)))
		return
	}
	i := len(f.open) - 1
	for i >= 0 && f.open[i].name != name {
		i--
	}
	if i < 0 || f.open[i].blocks < len(f.blocks) {
		f.copies += mostAttempts * min(f.weight, mostClones*f.heaviest)
	}
	if i < 0 || len(f.blocks)-f.open[i].blocks >= mostAttempts {
		return
	}
	t := f.open[i]
	f.open = slices.Delete(f.open, i, i+1)
	if f.equal[t.tag]--; f.equal[t.tag] < mostEqual {
		f.weight -= t.weight
	}
}

// readsDifferently reports whether x/net/html may find tags in a text or comment where its tokenizer alone
// finds none, or the other way round. In SVG and MathML, nothing but a CDATA section is raw text.
func (f *openFormatting) readsDifferently(raw []byte) bool {
	return len(f.foreign) > 0 && bytes.IndexByte(raw, '<') >= 0 && !bytes.HasPrefix(raw, []byte("<!--"))
}

// formattingWeight returns how much memory a copy of an element takes, in elements, and the length of
// its tag. It gets the text after the "<". The weight is 0 if the element is not opened again.
//
// The length of the tag counts, too. Otherwise a page of unclosed tags, each of which ends with the page,
// would take time that grows with the square of its length: callers stop at a weight.
func formattingWeight(tag []byte) (weight, length int) {
	const longest = len("strike")
	var name [longest]byte
	n := 0
	for ; n < len(tag) && !endsName(tag[n]); n++ {
		if n == longest {
			return 0, n
		}
		name[n] = tag[n] | 0x20 // in lower case, if it is a letter
	}
	if !isFormatting(name[:n]) {
		return 0, n
	}
	attributes, length := readAttributes(tag[n:])
	return 1 + attributes/3 + length/256, n + length
}

// isFormatting reports whether elements of a name are opened again (HTML standard, "formatting").
func isFormatting(name []byte) bool {
	switch string(name) {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

// readAttributes returns how many attributes a tag has, and how long they are. It gets the text after
// the name.
func readAttributes(tag []byte) (n, length int) {
	for {
		start, end := nextAttribute(tag, length)
		if start == end {
			return n, start
		}
		n, length = n+1, end
	}
}

// nextAttribute returns where the first attribute from i on begins and ends. At the end of the tag it is empty.
func nextAttribute(tag []byte, i int) (start, end int) {
	for i < len(tag) && tag[i] != '>' && endsName(tag[i]) {
		i++
	}
	if i == len(tag) || tag[i] == '>' {
		return i, i
	}
	start = i
	for i++; i < len(tag) && tag[i] != '=' && !endsName(tag[i]); i++ {
	}
	end = i
	if i = skipSpace(tag, i); i < len(tag) && tag[i] == '=' {
		end = skipValue(tag, skipSpace(tag, i+1))
	}
	return start, end
}

// skipValue returns the end of the attribute value that begins at i.
func skipValue(tag []byte, i int) int {
	if i < len(tag) && (tag[i] == '"' || tag[i] == '\'') {
		if end := bytes.IndexByte(tag[i+1:], tag[i]); end >= 0 {
			return i + 1 + end + 1
		}
		return len(tag)
	}
	for i < len(tag) && tag[i] != '>' && !isSpace(tag[i]) {
		i++
	}
	return i
}

func skipSpace(tag []byte, i int) int {
	for i < len(tag) && isSpace(tag[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// endsName reports whether a byte ends the name of a tag. All but ">" may also be between attributes.
func endsName(c byte) bool { return c <= '>' && (c == '>' || c == '/' || isSpace(c)) }
