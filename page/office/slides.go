package office

import "fmt"

// slides reads a document of PresentationML: the slides that are shown, in their order. Notes
// and the texts of layouts are left out.
func (a *archive) slides(w *writer) error {
	main, props, err := a.mainPart()
	if err != nil {
		return err
	}
	a.readProperties(props, w)
	parts, err := a.relationsOf(main)
	if err != nil {
		return err
	}
	order := &listed{of: "sldId"}
	if err := a.read(main, order); err != nil {
		return err
	}
	for _, part := range order.parts {
		name := parts.inside[part.relation]
		if !a.has(name) {
			return fmt.Errorf("%w: slide %q is missing", ErrDamaged, part.relation)
		}
		links, err := a.relationsOf(name)
		if err != nil {
			return err
		}
		if err := a.read(name, &slideReader{w: w, links: links.links}); err != nil {
			return err
		}
	}
	return nil
}

// listed takes the parts that a document lists, in their order.
type listed struct {
	of    string // the element that names one
	parts []part
}

type part struct {
	relation, name string
	hidden         bool
}

func (l *listed) start(e *element) bool {
	if e.name == l.of && len(l.parts) < maxListed {
		state := e.attr("state")
		l.parts = append(l.parts, part{e.relation(), e.attr("name"), state == "hidden" || state == "veryHidden"})
	}
	return true
}

func (l *listed) end(string)  {}
func (l *listed) text(string) {}

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
		return e.attr("show") != "0" && e.attr("show") != "false"
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
		// It stands in the properties of a run, before the text.
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
