package office

import "fmt"

// slides reads a document of PresentationML: the slides that are shown, in their order. Notes
// and the texts of layouts are left out.
func (a *archive) slides() error {
	main, err := a.mainPart()
	if err != nil {
		return err
	}
	slides, err := a.parts(main, "sldId")
	if err != nil {
		return err
	}
	for _, slide := range slides {
		if !a.has(slide.file) {
			return fmt.Errorf("%w: slide %q is missing", ErrDamaged, slide.relation)
		}
		if err := a.readLinked(slide.file, func(links map[string]string) handler { return &slideReader{w: a.out, links: links} }); err != nil {
			return err
		}
	}
	return nil
}

// slideReader writes the paragraphs of a slide.
type slideReader struct {
	w      *writer
	links  map[string]string
	title  bool // the present shape is the title of the slide
	inText bool
	linked bool // the present run is a link
}

func (r *slideReader) start(e *element) bool {
	switch e.name {
	case "Fallback":
		return false
	case "sld":
		return !isFalse(e.attr("show"))
	case "sp", "graphicFrame":
		r.title = false
	case "ph":
		switch e.attr("type") {
		case "title", "ctrTitle":
			r.title = true
		case "dt", "ftr", "sldNum":
			r.title = false
		}
	case "p":
		if r.title {
			r.w.begin("h2")
		} else {
			r.w.begin("p")
		}
	case "hlinkClick":
		// It is in the properties of a run, before the text.
		if target := r.links[e.relation()]; target != "" && r.w.block != "" {
			r.w.beginLink(target)
			r.linked = true
		}
	case "t":
		r.inText = true
	case "br":
		r.w.text("\n")
	}
	return true
}

func (r *slideReader) end(name string) {
	switch name {
	case "p":
		r.w.endBlock()
	case "t":
		r.inText = false
	case "r", "fld":
		if r.linked {
			r.w.endLink()
			r.linked = false
		}
	case "sp", "graphicFrame":
		r.title = false
	}
}

func (r *slideReader) text(s string) {
	if r.inText {
		r.w.text(s)
	}
}
