package office

import (
	"path"
	"strconv"
	"strings"
)

// word reads a document of WordprocessingML: its body, then footnotes and endnotes. Headers,
// footers, comments, deleted and hidden text are left out.
func (a *archive) word() error {
	main, err := a.mainPart()
	if err != nil {
		return err
	}
	dir := path.Dir(main)
	headings := &styles{levels: make(map[string]int)}
	if name := path.Join(dir, "styles.xml"); a.has(name) {
		if err := a.read(name, headings); err != nil {
			return err
		}
	}
	for i, name := range []string{main, path.Join(dir, "footnotes.xml"), path.Join(dir, "endnotes.xml")} {
		if i > 0 && !a.has(name) {
			continue
		}
		err := a.readLinked(name, func(links map[string]string) handler {
			return &wordReader{w: a.out, levels: headings.levels, links: links}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// styles finds out which styles of a document are those of headings. Programs in other
// languages than English have other identifiers for them, but the same names.
type styles struct {
	startsOnly
	levels map[string]int // 1 for a title and the highest headings
	id     string
}

func (s *styles) start(e *element) bool {
	switch e.name {
	case "style":
		s.id = e.attr("styleId")
	case "name":
		name := strings.ToLower(e.attr("val"))
		if rest, ok := strings.CutPrefix(name, "heading "); ok {
			s.add(rest, 0)
		} else if name == "title" {
			s.add("1", 0)
		}
	case "outlineLvl":
		s.add(e.attr("val"), 1)
	}
	return true
}

func (s *styles) add(level string, plus int) {
	n, err := strconv.Atoi(level)
	if err == nil && n+plus >= 1 && n+plus <= 9 && len(s.levels) < maxListed {
		s.levels[s.id] = n + plus
	}
}

// wordReader writes paragraphs.
type wordReader struct {
	w      *writer
	levels map[string]int
	links  map[string]string

	inText, inField bool   // in w:t; in w:instrText
	hidden          bool   // the present run is not shown
	field           string // the instruction of the present field
	inLink          bool   // in w:hyperlink
}

func (r *wordReader) start(e *element) bool {
	switch e.name {
	case "Fallback", "del", "moveFrom", "sectPr", "tabs", "rt":
		return false // a second form of what is beside it; deleted text; layout; how a word in Japanese is pronounced
	case "footnote", "endnote":
		return e.attr("type") == "" || e.attr("type") == "normal" // the others are lines between text and notes
	case "p":
		r.w.begin("p")
	case "pStyle":
		r.heading(r.levels[e.attr("val")])
	case "outlineLvl":
		if n, err := strconv.Atoi(e.attr("val")); err == nil && n >= 0 && n < 9 {
			r.heading(n + 1)
		}
	case "r":
		r.hidden = false
	case "vanish":
		r.hidden = !isFalse(e.attr("val"))
	case "t":
		r.inText = true
	case "instrText":
		r.inField = true
	case "tab", "br", "cr":
		r.w.text("\n")
	case "noBreakHyphen":
		r.w.text("-")
	case "hyperlink":
		if target := r.links[e.relation()]; target != "" {
			r.w.beginLink(target)
			r.inLink = true
		}
	case "fldSimple":
		if !r.inLink {
			r.w.beginLink(linkOfField(e.attr("instr")))
		}
	case "fldChar":
		r.fieldChar(e.attr("fldCharType"))
	}
	return true
}

// heading makes the current paragraph, which must be empty so far, a heading.
func (r *wordReader) heading(level int) {
	if level > 0 && r.w.block == "p" && len(r.w.b) == r.w.from {
		r.w.begin("h" + strconv.Itoa(min(level, 6)))
	}
}

// fieldChar handles the three marks of a field. Between them are its instruction and then
// its result.
func (r *wordReader) fieldChar(mark string) {
	switch mark {
	case "begin":
		r.field = ""
	case "separate":
		if target := linkOfField(r.field); target != "" && !r.inLink {
			r.w.beginLink(target)
		}
	case "end":
		if !r.inLink {
			r.w.endLink()
		}
	}
}

// linkOfField returns the target of the field HYPERLINK "target", "" for other fields.
func linkOfField(instruction string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(instruction), "HYPERLINK ")
	if !ok {
		return ""
	}
	rest, ok = strings.CutPrefix(strings.TrimSpace(rest), `"`)
	if !ok {
		return "" // a switch, such as \l for a place in the document
	}
	target, _, _ := strings.Cut(rest, `"`)
	return target
}

func (r *wordReader) end(name string) {
	switch name {
	case "p":
		r.w.endBlock()
	case "t":
		r.inText = false
	case "instrText":
		r.inField = false
	case "hyperlink":
		r.w.endLink()
		r.inLink = false
	case "fldSimple":
		if !r.inLink {
			r.w.endLink()
		}
	}
}

func (r *wordReader) text(s string) {
	switch {
	case r.inText && !r.hidden:
		r.w.text(s)
	case r.inField && len(r.field)+len(s) <= maxTarget:
		r.field += s
	}
}
