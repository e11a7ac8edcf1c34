package office

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
)

// sheets reads a document of SpreadsheetML: the texts in the cells of the sheets that are
// shown, row by row. Numbers are left out, because how they are shown follows from formats
// that are not read: a date would be a number of days.
func (a *archive) sheets() error {
	main, err := a.mainPart()
	if err != nil {
		return err
	}
	sheets, err := a.parts(main, "sheet")
	if err != nil {
		return err
	}
	shared := new(sharedStrings)
	if name := path.Join(path.Dir(main), "sharedStrings.xml"); a.has(name) {
		if err := a.read(name, shared); err != nil {
			return err
		}
	}
	for _, sheet := range sheets {
		if sheet.hidden || sheet.relation == "" {
			continue
		}
		if err := a.sheet(sheet, shared.list); err != nil {
			return err
		}
	}
	return nil
}

// sheet writes one sheet under its name.
func (a *archive) sheet(sheet part, shared []string) error {
	if !a.has(sheet.file) {
		return fmt.Errorf("%w: sheet %q is missing", ErrDamaged, sheet.relation)
	}
	return a.readLinked(sheet.file, func(links map[string]string) handler {
		a.out.begin("h2")
		a.out.text(sheet.name)
		return &sheetReader{w: a.out, shared: shared, links: links}
	})
}

// sharedStrings are the texts that cells refer to by number, without the space around them: the
// HTML would not count space that any number of rows refer to. Those beyond the bound are empty.
type sharedStrings struct {
	list   []string
	size   int
	now    []byte // the present one
	inText bool
}

func (s *sharedStrings) start(e *element) bool {
	switch e.name {
	case "rPh":
		return false // how a word in Japanese is pronounced
	case "si":
		s.now = s.now[:0]
	case "t":
		s.inText = true
	}
	return true
}

func (s *sharedStrings) end(name string) {
	switch name {
	case "t":
		s.inText = false
	case "si":
		const perString = 16 // what an empty one takes
		text := bytes.TrimSpace(s.now)
		if s.size += perString + len(text); s.size <= maxShared {
			s.list = append(s.list, string(text))
		}
	}
}

func (s *sharedStrings) text(text string) {
	if s.inText && len(s.now)+len(text) <= maxToken {
		s.now = append(s.now, text...)
	}
}

// sheetReader writes each row as a paragraph.
type sheetReader struct {
	w      *writer
	shared []string
	links  map[string]string

	kind    string // the type of the present cell
	value   []byte
	inValue bool
	cells   int // that the present row has so far
}

func (r *sheetReader) start(e *element) bool {
	switch e.name {
	case "row":
		if isTrue(e.attr("hidden")) {
			return false
		}
		r.w.begin("p")
		r.cells = 0
	case "c":
		r.kind, r.value = e.attr("t"), r.value[:0]
	case "v":
		r.inValue = r.kind == "s" || r.kind == "str"
	case "t":
		r.inValue = r.kind == "inlineStr"
	case "f", "rPh", "headerFooter":
		return false
	case "hyperlink":
		if target := r.links[e.relation()]; target != "" {
			r.w.begin("p")
			r.w.beginLink(target)
			r.w.text(e.attr("display"))
			r.w.endBlock()
		}
	}
	return true
}

func (r *sheetReader) end(name string) {
	switch name {
	case "v", "t":
		r.inValue = false
	case "c":
		r.cell()
	case "row":
		r.w.endBlock()
	}
}

func (r *sheetReader) cell() {
	text := string(r.value)
	if r.kind == "s" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n >= len(r.shared) {
			return
		}
		text = r.shared[n]
	}
	if text == "" {
		return
	}
	if r.cells++; r.cells > 1 {
		r.w.text(" ")
	}
	r.w.text(text)
}

func (r *sheetReader) text(s string) {
	if r.inValue && len(r.value)+len(s) <= maxToken {
		r.value = append(r.value, s...)
	}
}
