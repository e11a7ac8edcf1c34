package pdftest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"slices"
	"strings"
)

// Hostile documents, by what they do.
func Hostile() map[string][]byte {
	whole := Make(Options{Title: "Whole", Compress: true}, strings.Split(strings.Repeat("The harbour is dredged.\n", 30), "\n"))
	return map[string][]byte{
		"empty":                nil,
		"nonsense":             []byte("%PDF-1.7\nThis is none.\n%%EOF\n"),
		"cut off":              whole[:len(whole)*6/10],
		"pages in a loop":      loop(),
		"forms in a loop":      forms(1, 1),
		"bookmarks in a loop":  bookmarkLoop(),
		"a bomb":               bomb(),
		"a huge table":         []byte("%PDF-1.5\nxref\n0 4000000000\ntrailer\n<</Size 4000000000/Root 1 0 R>>\nstartxref\n9\n%%EOF\n"),
		"nested arrays":        nested(),
		"a header of nothing":  []byte("%PDF-1.4"),
		"references to itself": []byte("%PDF-1.4\n1 0 obj\n1 0 R\nendobj\ntrailer\n<</Root 1 0 R/Size 2>>\nstartxref\n9\n%%EOF\n"),
	}
}

// forms returns a document with levels of forms, each of which shows the next one the given
// number of times, and the last one itself.
func forms(levels, times int) []byte {
	w := &writer{}
	catalog, root, page := w.reserve(), w.reserve(), w.reserve()
	font := w.add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	first := len(w.objects) + 1
	for i := range levels {
		next := min(first+i+1, first+levels-1)
		w.add(w.stream(fmt.Sprintf("/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font<</F %s>>/XObject<</X %s>>>>", ref(font), ref(next)),
			[]byte("BT /F 9 Tf 72 700 Td (a form) Tj ET "+strings.Repeat("/X Do ", times))))
	}
	contents := w.add(w.stream("", []byte("/X Do")))
	w.set(page, fmt.Sprintf("<</Type/Page/Parent %s/MediaBox[0 0 612 792]/Resources<</XObject<</X %s>>>>/Contents %s>>", ref(root), ref(first), ref(contents)))
	w.set(root, fmt.Sprintf("<</Type/Pages/Count 1/Kids[%s]>>", ref(page)))
	w.set(catalog, fmt.Sprintf("<</Type/Catalog/Pages %s>>", ref(root)))
	return w.finish(catalog, "")
}

func loop() []byte {
	w := &writer{}
	catalog, root := w.reserve(), w.reserve()
	w.set(root, fmt.Sprintf("<</Type/Pages/Count 3/Kids[%s %s]/Parent %s>>", ref(root), ref(root), ref(root)))
	w.set(catalog, fmt.Sprintf("<</Type/Catalog/Pages %s>>", ref(root)))
	return w.finish(catalog, "")
}

func bookmarkLoop() []byte {
	whole := Make(Options{Bookmarks: []string{"Harbour", "Harbour"}}, []string{"Harbour"}, []string{"Pier"})
	// The second bookmark is followed by itself, and is inside itself.
	at := bytes.LastIndex(whole, []byte("<</Title(Harbour)/Parent"))
	end := at + bytes.Index(whole[at:], []byte(">>"))
	number := bytes.Count(whole[:at], []byte(" 0 obj\n"))
	return slices.Concat(whole[:end], fmt.Appendf(nil, "/Next %s/First %s", ref(number), ref(number)), whole[end:])
}

// bomb is a page of a gigabyte of operators, compressed to one or two megabytes.
func bomb() []byte {
	const times = 1 << 10
	chunk := bytes.Repeat([]byte("(a) Tj "), 1<<17)
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	for range times {
		_, _ = z.Write(chunk) // a Buffer takes everything
	}
	_ = z.Close()
	w := &writer{}
	catalog, root, page := w.reserve(), w.reserve(), w.reserve()
	contents := w.add(fmt.Sprintf("<</Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream", b.Len(), b.Bytes()))
	w.set(page, fmt.Sprintf("<</Type/Page/Parent %s/MediaBox[0 0 612 792]/Contents %s>>", ref(root), ref(contents)))
	w.set(root, fmt.Sprintf("<</Type/Pages/Count 1/Kids[%s]>>", ref(page)))
	w.set(catalog, fmt.Sprintf("<</Type/Catalog/Pages %s>>", ref(root)))
	return w.finish(catalog, "")
}

func nested() []byte {
	deep := strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)
	w := &writer{}
	catalog, root := w.reserve(), w.reserve()
	w.set(root, "<</Type/Pages/Count 1/Kids "+deep+">>")
	w.set(catalog, fmt.Sprintf("<</Type/Catalog/Pages %s/Names %s>>", ref(root), deep))
	return w.finish(catalog, "")
}
