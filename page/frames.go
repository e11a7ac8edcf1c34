package page

import (
	"strings"

	"golang.org/x/net/html"
)

// MaxFrames bounds the number of frames in a Document, and maxFrameBytes their total
// length, because they are stored in one value. Real pages have a few dozen.
const (
	MaxFrames     = 1000
	maxFrameBytes = 1 << 20
)

// enterFrame takes the URL of a frame as written. It skips frames for which a browser
// loads nothing: in a template, with an empty src, or with srcdoc.
func (x *extractor) enterFrame(n *html.Node) {
	if x.templateOf != nil || n.Namespace != "" {
		return
	}
	if _, inPlace := attribute(n, "srcdoc"); inPlace && n.Data == "iframe" {
		return
	}
	if src, _ := attribute(n, "src"); strings.Trim(src, htmlSpace) != "" {
		x.frames = append(x.frames, src)
	}
}

// distinctURLs resolves references of the page at self. It drops URLs that are not http or https
// (about:, javascript:, data:, blob:), the page itself, which empty references name, and
// repetitions. It stops at a number of URLs, and at a number of bytes of them.
func distinctURLs(self URL, base *Resolver, refs []string, most, mostBytes int) []URL {
	if len(refs) == 0 {
		return nil
	}
	var urls []URL
	seen := make(map[URL]bool, min(len(refs), most))
	size := 0
	for _, ref := range refs {
		u, err := base.Resolve(ref)
		if err != nil || u == self || seen[u] {
			continue
		}
		if size += len(u); len(urls) == most || size > mostBytes {
			break
		}
		seen[u] = true
		urls = append(urls, u)
	}
	return urls
}
