package office

import "strconv"

// openDocument reads a text, presentation or spreadsheet of OpenDocument. Deleted text,
// comments and the notes of a speaker are left out.
func (a *archive) openDocument() error {
	if a.has("META-INF/manifest.xml") {
		m := new(manifest)
		if err := a.read("META-INF/manifest.xml", m); err != nil {
			return err
		}
		if m.encrypted {
			return ErrEncrypted
		}
	}
	a.readProperties("meta.xml")
	return a.read("content.xml", &odfReader{w: a.out, hidden: make(map[styleOf]bool)})
}

// manifest finds out whether files of a document are encrypted.
type manifest struct {
	startsOnly
	encrypted bool
}

func (m *manifest) start(e *element) bool {
	m.encrypted = m.encrypted || e.name == "encryption-data"
	return true
}

// styleOf names a style. Styles of different families may have the same name.
type styleOf struct{ family, name string }

// styled has the families of the styles of elements.
var styled = map[string]string{"span": "text", "p": "paragraph", "h": "paragraph", "table": "table", "page": "drawing-page"}

// odfReader writes the paragraphs of a text or slide, and each row of a table as a paragraph.
type odfReader struct {
	w       *writer
	inSheet bool // in a spreadsheet, whose tables have names that are shown
	isTitle bool // in the frame with the title of a slide
	inRow   bool
	cells   int // paragraphs that the present row has so far
	open    int // paragraphs and headings that are open

	style  styleOf // that is being defined
	hidden map[styleOf]bool
}

func (r *odfReader) start(e *element) bool {
	if family := styled[e.name]; family != "" && r.hidden[styleOf{family, e.attr("style-name")}] {
		return false
	}
	switch e.name {
	case "style":
		r.style = styleOf{e.attr("family"), e.attr("name")}
	case "text-properties", "table-properties", "drawing-page-properties":
		if hides(e) && len(r.hidden) < maxListed {
			r.hidden[r.style] = true
		}
	case "section":
		return !hides(e)
	case "tracked-changes", "annotation", "notes", "forms", "note-citation", "ruby-text":
		return false
	case "spreadsheet":
		r.inSheet = true
	case "frame":
		r.isTitle = e.attr("class") == "title"
	case "table":
		if r.inSheet {
			r.w.begin("h2")
			r.w.text(e.attr("name"))
			r.w.endBlock()
		}
	case "table-row":
		if v := e.attr("visibility"); v == "collapse" || v == "filter" {
			return false
		}
		r.w.begin("p")
		r.inRow, r.cells = true, 0
	case "h":
		r.open++
		level, err := strconv.Atoi(e.attr("outline-level"))
		if err != nil {
			level = 1
		}
		r.w.begin("h" + strconv.Itoa(min(max(level, 1), 6)))
	case "p":
		r.open++
		r.paragraph()
	case "a":
		r.w.beginLink(e.attr("href"))
	case "s", "tab", "line-break":
		r.text(" ")
	}
	return true
}

// hides reports whether an element says that text, a sheet or a slide is not shown.
func hides(e *element) bool {
	display := e.attr("display")
	return display == "none" || isFalse(display) || e.attr("visibility") == "hidden"
}

func (r *odfReader) paragraph() {
	switch {
	case r.inRow:
		if r.cells++; r.cells > 1 {
			r.w.text(" ")
		}
	case r.isTitle:
		r.w.begin("h2")
	default:
		r.w.begin("p")
	}
}

func (r *odfReader) end(name string) {
	switch name {
	case "style":
		r.style = styleOf{}
	case "frame":
		r.isTitle = false
	case "table-row":
		r.w.endBlock()
		r.inRow = false
	case "h", "p":
		r.open--
		if !r.inRow {
			r.w.endBlock()
		}
	case "a":
		r.w.endLink()
	}
}

func (r *odfReader) text(s string) {
	if r.open > 0 {
		r.w.text(s)
	}
}
