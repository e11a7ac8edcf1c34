package convert

import (
	"bytes"
	"encoding/xml"
	"path"
	"slices"
	"strings"
	"unicode"
)

// titleOf returns the title of a document: that of its properties unless a program made it up,
// or else the largest of the first lines.
func (d *document) titleOf() string {
	if t := strings.Join(strings.Fields(strings.ToValidUTF8(d.title, "")), " "); !isMadeUp(t) {
		return cut(t, maxTitle)
	}
	return cut(d.largest(), maxTitle)
}

// isMadeUp reports whether a title says nothing about the document, because it comes from a
// program that was not given a title. Often it is the name of a file.
func isMadeUp(s string) bool {
	s = strings.ToLower(s)
	if !strings.ContainsFunc(s, unicode.IsLetter) {
		return true
	}
	switch s {
	case "untitled", "untitled document", "untitled-1", "unknown", "title", "document", "document1", "presentation", "presentation1",
		"powerpoint presentation", "powerpoint-präsentation", "présentation powerpoint", "presentación de powerpoint", "print", "about:blank":
		return true
	}
	if strings.HasPrefix(s, "microsoft word - ") || strings.HasPrefix(s, "microsoft powerpoint - ") || strings.HasPrefix(s, "file://") {
		return true
	}
	return slices.Contains([]string{".doc", ".docx", ".odt", ".rtf", ".pdf", ".ps", ".dvi", ".tex", ".ppt", ".pptx", ".xls", ".xlsx", ".indd", ".qxd", ".cdr", ".fm", ".pmd", ".txt", ".tmp"}, path.Ext(s))
}

// largest returns the first text of the largest font at the beginning of the first page that
// has a text; its first line, if no font is larger than the usual one.
func (d *document) largest() string {
	const (
		first = 25 // lines
		long  = 3  // lines of a title
	)
	large := 1.15 * usualHeight(d.pages)
	for _, lines := range d.pages {
		lines = lines[:min(first, len(lines))]
		best := -1
		for i, l := range lines {
			if isTitle(l.text) && (best < 0 || l.height > large && l.height > 1.05*lines[best].height) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		b := block{text: []byte(lines[best].text)}
		for i := best + 1; i < min(len(lines), best+long) && lines[i].height > large && continues(&lines[i-1], &lines[i], 1, 0); i++ {
			b.append(&lines[i], lines[i-1].hyphen)
		}
		return string(b.text)
	}
	return ""
}

func isTitle(s string) bool {
	return len(s) <= maxHeadingText && strings.ContainsFunc(s, unicode.IsLetter)
}

// cut returns at most n bytes of a text, in UTF-8.
func cut(s string, n int) string { return strings.ToValidUTF8(s[:min(n, len(s))], "") }

// metadataTitle returns the title in the metadata (XMP) of a document. The standard asks for it
// to be uncompressed in the file, so that it can be found without reading the document.
func metadataTitle(body []byte) string {
	const (
		open, end = "<dc:title", "</dc:title>"
		long      = 8 << 10
	)
	from := bytes.LastIndex(body, []byte(open))
	if from < 0 {
		return ""
	}
	part := body[from:min(len(body), from+long)]
	to := bytes.Index(part, []byte(end))
	if to < 0 {
		return ""
	}
	d := xml.NewDecoder(bytes.NewReader(part[:to+len(end)]))
	d.Strict = false
	var title strings.Builder
	for {
		token, err := d.Token()
		if err != nil { // the end, or no XML in UTF-8
			return title.String()
		}
		switch t := token.(type) {
		case xml.CharData:
			title.Write(t)
		case xml.EndElement:
			if t.Name.Local == "li" && strings.TrimSpace(title.String()) != "" {
				return title.String() // the first of several languages
			}
		}
	}
}
