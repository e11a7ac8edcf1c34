package page

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// asHTML returns the HTML of a page, which may be XHTML: there, XML rules tell where elements end.
func asHTML(body []byte, contentType string) []byte {
	if essence(contentType) == "application/xhtml+xml" {
		return closeEmpty(body)
	}
	return body
}

// closeEmpty writes an end tag for each element of XHTML that is empty by its slash alone, as in
// <script src="a.js"/>: in HTML, the rest of the page would be in the script.
func closeEmpty(body []byte) []byte {
	body = trimTags(body)
	out := make([]byte, 0, len(body)+len(body)/16)
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		token := z.Next()
		raw := z.Raw()
		if token != html.SelfClosingTagToken {
			out = append(out, raw...)
			if token == html.ErrorToken {
				return out
			}
			continue
		}
		z.NextIsNotRawText()
		out = append(out, raw...)
		if name, _ := z.TagName(); !isVoid(atom.Lookup(name)) {
			out = append(bytes.TrimSuffix(out, []byte("/>")), "></"...)
			out = append(append(out, name...), '>')
		}
	}
}
