package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// separates reports whether an element ends the word before it and begins a new one. All
// elements do except inline ones: block-level elements, <br>, and unknown elements,
// which on real pages are mostly unescaped less-than signs, as in "Collection<Item>)".
//
// Inline is the phrasing content of the HTML standard except <br>, and obsolete elements of
// that kind. This is a switch and not a map because it is asked twice for each element.
func separates(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.Acronym, atom.Area, atom.Audio, atom.B, atom.Basefont,
		atom.Bdi, atom.Bdo, atom.Big, atom.Blink, atom.Button, atom.Canvas, atom.Cite,
		atom.Code, atom.Data, atom.Datalist, atom.Del, atom.Dfn, atom.Em, atom.Embed,
		atom.Font, atom.I, atom.Iframe, atom.Img, atom.Input, atom.Ins, atom.Kbd,
		atom.Label, atom.Link, atom.Map, atom.Mark, atom.Math, atom.Meta, atom.Meter,
		atom.Nobr, atom.Noembed, atom.Noscript, atom.Object, atom.Output, atom.Param,
		atom.Picture, atom.Progress, atom.Q, atom.Rb, atom.Rp, atom.Rt, atom.Rtc,
		atom.Ruby, atom.S, atom.Samp, atom.Script, atom.Select, atom.Slot, atom.Small,
		atom.Source, atom.Span, atom.Strike, atom.Strong, atom.Style, atom.Sub,
		atom.Sup, atom.Svg, atom.Template, atom.Textarea, atom.Time, atom.Track,
		atom.Tt, atom.U, atom.Var, atom.Video, atom.Wbr:
		return false
	}
	return true
}

// isTemplateType reports whether scripts of a type hold template text: the type is text/...
// but not a JavaScript type (MIME Sniffing standard, "JavaScript MIME type").
func isTemplateType(essence string) bool {
	if !strings.HasPrefix(essence, "text/") {
		return false
	}
	switch essence {
	case "text/ecmascript", "text/javascript", "text/javascript1.0", "text/javascript1.1", "text/javascript1.2", "text/javascript1.3",
		"text/javascript1.4", "text/javascript1.5", "text/jscript", "text/livescript", "text/x-ecmascript", "text/x-javascript":
		return false
	}
	return true
}
