package page

import (
	"strings"

	"golang.org/x/net/html"
)

// MaxFrames bounds the frames of a page that a Document names, and maxFrameBytes their
// length together, as it bounds what is stored of them in one value. Real pages have some
// dozens.
const (
	MaxFrames     = 1000
	maxFrameBytes = 1 << 20
)

// enterFrame takes the address of a frame as it is written. There is none where a browser
// would load none: in a template, with an empty src, and where srcdoc has the document.
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

// frameTargets resolves the frames of the page at self. Those that are no http or https
// URL (about:blank, javascript:, data:), and the page itself, are left out.
func frameTargets(self URL, base *Resolver, refs []string) []URL {
	var frames []URL
	seen := make(map[URL]bool, len(refs))
	size := 0
	for _, ref := range refs {
		target, err := base.Resolve(ref)
		if err != nil || target == self || seen[target] {
			continue
		}
		if size += len(target); len(frames) == MaxFrames || size > maxFrameBytes {
			break
		}
		seen[target] = true
		frames = append(frames, target)
	}
	return frames
}
