package convert

import (
	"crypto/sha256"
	"fmt"
	"html"
	"strings"
)

// html returns the document as HTML. A heading has the id of its page, page=N, which as the
// fragment of a URL leads viewers there.
//
// The HTML names the digest of the PDF: two documents without text, such as scanned ones, must
// not be equal.
func (d *document) html(body []byte) []byte {
	title := d.titleOf()
	furniture := d.takeFurniture()
	var w strings.Builder
	w.WriteString("<!DOCTYPE html>\n<html")
	if d.language != "" {
		fmt.Fprintf(&w, " lang=%q", html.EscapeString(cut(d.language, 35)))
	}
	fmt.Fprintf(&w, ">\n<meta name=\"pdf-sha256\" content=\"%x\">\n<title>%s</title>\n<body>\n", sha256.Sum256(body), html.EscapeString(title))
	for _, b := range d.blocks() {
		if w.Len() > maxHTML {
			break
		}
		b.write(&w)
	}
	if len(furniture) > 0 {
		w.WriteString("<footer>\n")
		for _, s := range furniture {
			w.WriteString("<p>" + html.EscapeString(s) + "</p>\n")
		}
		w.WriteString("</footer>\n")
	}
	return []byte(w.String())
}

func (b *block) write(w *strings.Builder) {
	name, attribute := "p", ""
	if b.level > 0 {
		name, attribute = fmt.Sprintf("h%d", b.level), fmt.Sprintf(" id=\"page=%d\"", b.page+1)
	}
	w.WriteString("<" + name + attribute + ">")
	text, at := string(b.text), 0
	for _, l := range b.links {
		w.WriteString(html.EscapeString(text[at:l.from]))
		w.WriteString(`<a href="` + html.EscapeString(l.target) + `">` + html.EscapeString(text[l.from:l.to]) + "</a>")
		at = l.to
	}
	w.WriteString(html.EscapeString(text[at:]))
	w.WriteString("</" + name + ">\n")
}
