package page

import (
	"path"
	"slices"
	"strings"
)

// MaxResource bounds the body of a resource that is kept for rendering, in bytes.
const MaxResource = 8 << 20

// IsResource reports whether the response is a resource of pages: a script, a style sheet, an
// image, a font or data, no larger than MaxResource. Sound, video, archives and downloads are
// not resources. Neither are responses that can be pages, whose bodies are kept anyway.
func (f *Fetch) IsResource() bool {
	if !f.mayBePage() || len(f.Body) > MaxResource {
		return false
	}
	mediaType := essence(f.Header.Get("Content-Type"))
	kind, subtype, ok := strings.Cut(mediaType, "/")
	switch {
	case !ok: // its body is kept to be sniffed
		return false
	case mediaType == "text/html", mediaType == "text/plain", mediaType == "application/xhtml+xml":
		return false
	case kind == "text", kind == "image", kind == "font":
		return true
	case kind == "application":
		return isResourceType(subtype) || subtype == "octet-stream" && slices.Contains(resourceEndings, strings.ToLower(path.Ext(f.URL.Path())))
	}
	return false
}

// isResourceType reports whether application/SUBTYPE is the media type of a resource.
func isResourceType(subtype string) bool {
	switch subtype {
	case "javascript", "x-javascript", "ecmascript", "json", "xml", "wasm", "manifest+json", "x-font-ttf", "x-font-woff",
		"x-font-truetype", "x-font-opentype", "vnd.ms-fontobject":
		return true
	}
	return strings.HasPrefix(subtype, "font-") || strings.HasSuffix(subtype, "+json") || strings.HasSuffix(subtype, "+xml")
}

// resourceEndings are the endings of resources that servers without a table of media types
// call application/octet-stream.
var resourceEndings = []string{".js", ".mjs", ".css", ".json", ".wasm", ".woff", ".woff2", ".ttf", ".otf", ".eot"}
