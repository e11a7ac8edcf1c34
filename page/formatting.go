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

// Of equal elements that ended without an end tag, a parser opens three again, and of links one. It
// makes eight attempts to close an element that has others inside it, each of which copies it; a
// link with more inside it may stay open. It fails if elements are nested more than 512 deep.
const (
	mostEqual    = 3
	mostAttempts = 8
	mostDepth    = 512
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
	case tag[0]|0x20 == 'a' && endsAtOnce(tag[length:]):
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

// endsAtOnce reports whether the next tag ends a link. It gets the text from the ">" of the link on.
func endsAtOnce(rest []byte) bool {
	_, next, _ := bytes.Cut(rest, []byte{'<'})
	return len(next) > 2 && next[0] == '/' && next[1]|0x20 == 'a' && endsName(next[2])
}

// copiesMoreThan reports whether x/net/html may copy more elements. Any tag may make it copy the
// formatting elements that are open, and those that were not closed where they were opened.
func copiesMoreThan(most int, body []byte) bool {
	var f openFormatting
	z := html.NewTokenizer(bytes.NewReader(body))
	for f.copies <= most {
		switch z.Next() {
		case html.ErrorToken:
			return false
		case html.TextToken: // tags, inside SVG, of what only a title in HTML takes as text
			if bytes.IndexByte(z.Raw(), '<') >= 0 && (f.find("svg") >= 0 || f.find("math") >= 0) {
				return true
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := z.Raw()[1:] // TagName puts the name into lower case
			weight, _ := formattingWeight(raw)
			tag := ""
			if weight > 0 {
				tag = string(raw)
			}
			name, _ := z.TagName()
			f.start(openTag{atom.String(name), tag, weight})
		case html.EndTagToken:
			name, _ := z.TagName()
			f.end(atom.String(name))
		}
	}
	return true
}

// openFormatting follows which formatting elements may be opened again.
type openFormatting struct {
	copies int
	open   []openTag      // as written
	weight int            // of the formatting elements that are open or lost
	lost   map[string]int // how many ended without an end tag, by the tag
	link   openTag        // the last link of these, which the next link ends; not in lost
	least  int            // elements that have been open all the time since it ended
}

// openTag is an element that has not ended. Its weight is 0, and its tag empty, if it is not opened
// again.
type openTag struct {
	name, tag string
	weight    int
}

// start begins an element.
func (f *openFormatting) start(t openTag) {
	f.copies += f.weight
	a := atom.Lookup([]byte(t.name))
	if isVoid(a) {
		return
	}
	top := len(f.open) - 1
	switch {
	case a == atom.A:
		f.endLink()
	case top >= 0 && f.open[top].name == t.name && needsNoEnd(a):
		f.open = f.open[:top]
	}
	f.open = append(f.open, t)
	f.weight += t.weight
}

// needsNoEnd reports whether an element ends where another one of its name begins.
func needsNoEnd(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Option:
		return true
	}
	return false
}

// endLink ends the last link before another one begins, unless it may have much inside it.
func (f *openFormatting) endLink() {
	if f.link.weight > 0 {
		f.copies += mostAttempts * f.weight
		if len(f.open)-f.least < mostAttempts {
			f.weight -= f.link.weight
		} else {
			f.lose(f.link)
		}
		f.link = openTag{}
		return
	}
	i := f.find("a")
	if i < 0 {
		return
	}
	f.copies += mostAttempts * f.weight
	if len(f.open)-1-i < mostAttempts {
		f.weight -= f.open[i].weight
		f.open = slices.Delete(f.open, i, i+1)
	}
}

// end reads an end tag.
func (f *openFormatting) end(name string) {
	i, top := f.find(name), len(f.open)-1
	switch {
	case i < 0 || i < top:
		f.copies += f.weight
		if isFormatting([]byte(name)) {
			f.copies += mostAttempts * f.weight
		}
	default:
		f.weight -= f.open[top].weight
		f.open = f.open[:top]
	}
	for i >= 0 && i < len(f.open) { // without end tags of their own
		last := len(f.open) - 1
		t := f.open[last]
		f.open = f.open[:last]
		if t.name == "a" && f.link.weight == 0 {
			f.link, f.least = t, last
		} else {
			f.lose(t)
		}
	}
	f.least = min(f.least, len(f.open))
}

// lose keeps an element that ended without an end tag.
func (f *openFormatting) lose(t openTag) {
	if t.weight == 0 {
		return
	}
	if f.lost == nil {
		f.lost = make(map[string]int)
	}
	if f.lost[t.tag]++; f.lost[t.tag] > mostEqual {
		f.weight -= t.weight
	}
}

// find returns the index of the innermost open element with that name, -1 if there is none.
func (f *openFormatting) find(name string) int {
	for i := len(f.open) - 1; i >= max(0, len(f.open)-mostDepth); i-- {
		if f.open[i].name == name {
			return i
		}
	}
	return -1
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
	for i := 0; i < len(tag); {
		switch {
		case tag[i] == '>':
			return n, i
		case endsName(tag[i]):
			i++
			continue
		}
		n++
		for i++; i < len(tag) && tag[i] != '=' && !endsName(tag[i]); i++ {
		}
		if i = skipSpace(tag, i); i < len(tag) && tag[i] == '=' {
			i = skipValue(tag, skipSpace(tag, i+1))
		}
	}
	return n, len(tag)
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
