// Package pdftest makes small PDF documents for tests, valid and hostile ones.
package pdftest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
)

// Type is the media type of the documents.
const Type = "application/pdf"

// Options are the properties of a document in addition to its text.
type Options struct {
	Title, Language string
	// Metadata is a title in XMP.
	Metadata string
	// Link is the target of a link whose text is the last line of the first page.
	Link string
	// Bookmarks are titles, each of the page with the same index.
	Bookmarks []string
	// Compress compresses the contents of the pages.
	Compress bool
	// XRefStream writes the cross-reference table as a stream.
	XRefStream bool
	// Coded writes the text in codes that only a ToUnicode map explains.
	Coded bool
	// Password encrypts the document with it. EmptyPassword encrypts it so that anyone can
	// read it.
	Password      string
	EmptyPassword bool
}

// Large begins a line of a page that is to be set in a large font.
const Large = "#"

// Make returns a document whose pages have these lines. An empty line leaves a space.
func Make(o Options, pages ...[]string) []byte {
	w := &writer{options: o}
	info := ""
	catalog, root, font := w.reserve(), w.reserve(), w.reserve()
	if o.Coded {
		w.codedFont(font)
	} else {
		w.set(font, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	}
	var kids []string
	var refs []int
	for i, lines := range pages {
		page := w.reserve()
		refs = append(refs, page)
		kids = append(kids, ref(page))
		annots := ""
		if i == 0 && o.Link != "" {
			y := yOf(len(lines) - 1)
			annots = fmt.Sprintf("/Annots[<</Type/Annot/Subtype/Link/Rect[70 %d 400 %d]/A<</S/URI/URI(%s)>>>>]", y-3, y+10, o.Link)
		}
		contents := w.add(w.stream("", []byte(w.contents(lines))))
		w.set(page, fmt.Sprintf("<</Type/Page/Parent %s/MediaBox[0 0 612 792]/Resources<</Font<</F %s>>>>/Contents %s%s>>", ref(root), ref(font), ref(contents), annots))
	}
	w.set(root, fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(kids), strings.Join(kids, " ")))
	more := ""
	if o.Language != "" {
		more += "/Lang(" + o.Language + ")"
	}
	if len(o.Bookmarks) > 0 {
		more += "/Outlines " + ref(w.outlines(refs))
	}
	if o.Metadata != "" {
		xmp := `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">` +
			o.Metadata + `</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`
		more += "/Metadata " + ref(w.add(fmt.Sprintf("<</Type/Metadata/Subtype/XML/Length %d>>\nstream\n%s\nendstream", len(xmp), xmp)))
	}
	w.set(catalog, fmt.Sprintf("<</Type/Catalog/Pages %s%s>>", ref(root), more))
	if o.Title != "" {
		info = "/Info " + ref(w.add("<</Title("+o.Title+")>>"))
	}
	return w.finish(catalog, info)
}

func ref(n int) string { return fmt.Sprintf("%d 0 R", n) }

func yOf(line int) int { return 720 - 14*line }

// writer collects the objects of a document.
type writer struct {
	options Options
	objects []string // from number 1
	key     []byte   // of the encryption
}

func (w *writer) reserve() int { w.objects = append(w.objects, "null"); return len(w.objects) }

func (w *writer) set(n int, object string) { w.objects[n-1] = object }

func (w *writer) add(object string) int { n := w.reserve(); w.set(n, object); return n }

// stream returns a stream that will be the next object.
func (w *writer) stream(dict string, data []byte) string {
	if w.options.Compress {
		dict, data = dict+"/Filter/FlateDecode", deflate(data)
	}
	if w.encrypts() {
		data = w.encrypt(len(w.objects)+1, data)
	}
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(data) // a Buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// contents returns the operators that show lines.
func (w *writer) contents(lines []string) string {
	var b strings.Builder
	for i, l := range lines {
		size := 11
		if rest, large := strings.CutPrefix(l, Large); large {
			l, size = rest, 20
		}
		if l != "" {
			fmt.Fprintf(&b, "BT /F %d Tf 72 %d Td %s Tj ET\n", size, yOf(i), w.shown(l))
		}
	}
	return b.String()
}

var escape = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`)

// shown returns a line as the operand of an operator.
func (w *writer) shown(line string) string {
	if w.options.Coded {
		var b strings.Builder
		for _, r := range line {
			fmt.Fprintf(&b, "%04x", codeOf(r))
		}
		return "<" + b.String() + ">"
	}
	latin := make([]byte, 0, len(line))
	for _, r := range line {
		latin = append(latin, byte(r)) // WinAnsiEncoding is Latin-1 for letters
	}
	return "(" + escape.Replace(string(latin)) + ")"
}

// codeOf is the code of a character in the coded font.
func codeOf(r rune) int { return int(r)%0x2000 + 0x100 }

// codedFont makes a font whose codes mean nothing without its ToUnicode map. The map knows
// ASCII, Latin-1, Greek and Cyrillic.
func (w *writer) codedFont(font int) {
	cmap := fmt.Sprintf(`/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /X def /CMapType 2 def
1 begincodespacerange <0000> <ffff> endcodespacerange
1 beginbfrange <%04x> <%04x> <%04x> endbfrange
endcmap end end`, codeOf(0x20), codeOf(0x4ff), 0x20)
	toUnicode := w.add(w.stream("", []byte(cmap)))
	descendant := w.add("<</Type/Font/Subtype/CIDFontType2/BaseFont/Coded/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/DW 600>>")
	w.set(font, fmt.Sprintf("<</Type/Font/Subtype/Type0/BaseFont/Coded/Encoding/Identity-H/DescendantFonts[%s]/ToUnicode %s>>", ref(descendant), ref(toUnicode)))
}

func (w *writer) outlines(pages []int) int {
	root := w.reserve()
	first := len(w.objects) + 1
	last := first + len(w.options.Bookmarks) - 1
	for i, title := range w.options.Bookmarks {
		next := ""
		if first+i < last {
			next = "/Next " + ref(first+i+1)
		}
		w.add(fmt.Sprintf("<</Title(%s)/Parent %s/Dest[%s /Fit]%s>>", title, ref(root), ref(pages[i]), next))
	}
	w.set(root, fmt.Sprintf("<</Type/Outlines/First %s/Last %s/Count %d>>", ref(first), ref(last), len(w.options.Bookmarks)))
	return root
}

// finish writes the objects with their cross-reference table.
func (w *writer) finish(catalog int, more string) []byte {
	if w.encrypts() {
		more += "/Encrypt " + ref(w.add(w.encryption())) + "/ID[<" + fileID + "><" + fileID + ">]"
	}
	b := bytes.NewBufferString("%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(w.objects))
	for i, o := range w.objects {
		offsets[i] = b.Len()
		fmt.Fprintf(b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start, size := b.Len(), len(w.objects)+1
	if w.options.XRefStream {
		table := []byte{0, 0, 0, 0, 0}
		for _, at := range append(offsets, start) {
			table = append(table, 1, byte(at>>16), byte(at>>8), byte(at), 0)
		}
		table = deflate(table)
		fmt.Fprintf(b, "%d 0 obj\n<</Type/XRef/W[1 3 1]/Size %d/Root %s%s/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream\nendobj\n", size, size+1, ref(catalog), more, len(table), table)
	} else {
		fmt.Fprintf(b, "xref\n0 %d\n0000000000 65535 f \n", size)
		for _, at := range offsets {
			fmt.Fprintf(b, "%010d 00000 n \n", at)
		}
		fmt.Fprintf(b, "trailer\n<</Size %d/Root %s%s>>\n", size, ref(catalog), more)
	}
	fmt.Fprintf(b, "startxref\n%d\n%%%%EOF\n", start)
	return b.Bytes()
}
