package page

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// isXHTML reports whether XML rules tell where the elements of a page end.
func isXHTML(contentType string) bool { return essence(contentType) == "application/xhtml+xml" }

// closeEmpty writes an end tag for each element of XHTML that is empty by its slash alone, as in
// <script src="a.js"/>: in HTML, the rest of the page would be in the script.
func closeEmpty(body []byte) []byte {
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
