package index

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// filetype: goes by the address, as people see it. What the server called the page is not
// in the index, and is one of two: only HTML and plain text are indexed.

// maxFileType bounds the ending of an address that counts as one.
const maxFileType = 10

// fileTypes are what filetype: finds an address by: its ending, and "html" where there is
// none or where programs make the pages, which is HTML with few exceptions.
func fileTypes(u *url.URL) []string {
	ending := fileType(strings.TrimPrefix(path.Ext(u.Path), "."))
	switch ending {
	case "":
		return []string{"html"}
	case "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cgi":
		return []string{ending, "html"}
	}
	return []string{ending}
}

// fileType is an ending in lower case, "" for what is none, as in /v2.4.
func fileType(s string) string {
	s = strings.ToLower(s)
	letters := false
	for _, r := range s {
		if r >= 0x80 || asciiFold[r] == 0 {
			return ""
		}
		letters = letters || r > '9'
	}
	if !letters || len(s) > maxFileType {
		return ""
	}
	return s
}

func parseFileType(operator, value string) (string, error) {
	if t := fileType(strings.TrimPrefix(value, ".")); t != "" {
		return t, nil
	}
	if value == "" {
		return "", &UsageError{fmt.Sprintf("%s: needs the ending of an address, as in %s:txt", operator, operator)}
	}
	return "", &UsageError{fmt.Sprintf("%s:%s is not the ending of an address such as %s:html or %s:txt", operator, shorten(value), operator, operator)}
}

// neverIndexed are file types that people look for and whose files are never pages.
var neverIndexed = wordSet("pdf doc docx xls xlsx ppt pptx odt ods odp rtf ps epub jpg jpeg png gif svg webp mp3 mp4 zip gz tar csv json xml")

func (p *parser) noteFileType(t string) {
	if neverIndexed[t] {
		p.note("Only HTML and plain text are indexed: filetype:%s finds such pages whose address ends in .%s.", t, t)
	}
}
