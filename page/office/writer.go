package office

import (
	"bytes"
	"html"
	"strings"
)

// writer collects the body of the HTML. It keeps about max bytes.
type writer struct {
	max     int
	b       []byte
	title   string // of the properties
	heading string // the first heading, in HTML

	block string // the open block element, "" if there is none
	from  int    // where its content begins
	link  bool   // a link is open
}

// full reports whether nothing more is kept.
func (w *writer) full() bool { return len(w.b) >= w.max }

// begin begins a block, which ends the one before it.
func (w *writer) begin(name string) {
	w.endBlock()
	w.block = name
	w.b = append(w.b, "<"+name+">"...)
	w.from = len(w.b)
}

// endBlock ends the block. A block without content leaves nothing.
func (w *writer) endBlock() {
	if w.block == "" {
		return
	}
	w.endLink()
	name := w.block
	w.block = ""
	content := bytes.TrimSpace(w.b[w.from:])
	if len(content) == 0 {
		w.b = w.b[:w.from-len(name)-2]
		return
	}
	if name != "p" && w.heading == "" {
		w.heading = string(content)
	}
	w.b = append(w.b, "</"+name+">\n"...)
}

// text writes text into the block, and begins a paragraph if none is open.
func (w *writer) text(s string) {
	if s == "" || w.full() {
		return
	}
	if w.block == "" {
		if strings.TrimSpace(s) == "" {
			return
		}
		w.begin("p")
	}
	if room := w.max - len(w.b); len(s) > room {
		s = strings.ToValidUTF8(s[:room], "")
	}
	w.b = append(w.b, html.EscapeString(s)...)
}

// beginLink begins a link, which ends the one before it.
func (w *writer) beginLink(target string) {
	w.endLink()
	if target = strings.TrimSpace(target); target == "" || w.full() {
		return
	}
	if w.block == "" {
		w.begin("p")
	}
	w.link = true
	w.b = append(w.b, `<a href="`+html.EscapeString(target)+`">`...)
}

func (w *writer) endLink() {
	if w.link {
		w.link = false
		w.b = append(w.b, "</a>"...)
	}
}

// finish returns the HTML document. Its title is that of the properties, or else the first
// heading.
func (w *writer) finish() []byte {
	w.endBlock()
	title := html.EscapeString(w.title)
	if isDefaultTitle(w.title) {
		title = withoutTags(w.heading)
	}
	out := make([]byte, 0, len(w.b)+len(title)+64)
	out = append(out, "<!DOCTYPE html>\n<title>"...)
	out = append(out, title...)
	out = append(out, "</title>\n<body>\n"...)
	return append(out, w.b...)
}

// isDefaultTitle reports whether a title says nothing about the document, because it comes
// from a program that was not given a title.
func isDefaultTitle(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	switch s {
	case "", "powerpoint presentation", "powerpoint-präsentation", "présentation powerpoint", "presentación de powerpoint",
		"untitled", "document", "document1", "slide 1", "presentation", "presentation1":
		return true
	}
	return strings.HasPrefix(s, "microsoft word - ")
}

// withoutTags removes the tags that this package has written.
func withoutTags(s string) string {
	var b strings.Builder
	for s != "" {
		before, after, found := strings.Cut(s, "<")
		b.WriteString(before)
		if !found {
			break
		}
		b.WriteByte(' ')
		_, s, _ = strings.Cut(after, ">")
	}
	return b.String()
}

// properties take the title of a document.
type properties struct {
	w       *writer
	inTitle bool
}

// readProperties reads the title of the document, if it can be read: a document without
// properties is as good as any.
func (a *archive) readProperties(name string) {
	if name == "" || !a.has(name) {
		return
	}
	if err := a.read(name, &properties{w: a.out}); err != nil {
		a.out.title = ""
	}
}

func (p *properties) start(e *element) bool {
	p.inTitle = e.name == "title"
	return true
}

func (p *properties) end(string) { p.inTitle = false }

func (p *properties) text(s string) {
	if p.inTitle && len(p.w.title)+len(s) <= maxTitle {
		p.w.title += s
	}
}

const maxTitle = 4096 // bytes
