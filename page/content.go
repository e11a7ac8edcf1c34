package page

import "errors"

// content is what a body says on its own, without the URL and the header of the response.
// References are as written, and not resolved.
type content struct {
	title, text, language string
	key                   ContentKey
	main                  []Range
	sections              []Section
	directives
	links  []rawLink
	frames []string
}

// read returns what a body says: decoded is the body in UTF-8, raw as it was sent. The links
// of the result are x's.
func (x *extractor) read(k kind, contentType string, decoded, raw []byte) content {
	if k == kindText {
		x.text.write(string(decoded))
	} else {
		x.html(asHTML(decoded, contentType))
	}
	c := x.content()
	if k == kindHTML {
		c.encodeQueries(raw, contentType)
	}
	c.key = contentKey(x.title.buf, x.text.buf, x.template.buf, raw)
	return c
}

// content returns what was read, without a key.
func (x *extractor) content() content {
	c := content{title: x.title.String(), text: x.text.String(), directives: x.directives, links: x.links, frames: x.frames}
	c.language = languageOf(x.lang, c.text)
	main := x.division.main(x.text.buf)
	c.main, c.sections = main, x.headings.in(main)
	return c
}

// document returns what a fetch with this content means. It clears the links as it goes.
func (c *content) document(f *Fetch) Document {
	r := c.robots
	r.addHeader(f.Header)
	base := c.resolver(f.URL)
	if c.refresh != "" {
		if target, err := base.Resolve(c.refresh); err == nil {
			return Document{Outcome: Redirect, Target: target, NoIndex: r.noIndex, NoFollow: r.noFollow}
		}
	}
	o := Outline{Main: c.main, Sections: c.sections, Alternates: alternatesOf(base, c.alternates)}
	doc := Document{
		Outcome: Page, Title: c.title, Text: c.text, Language: c.language, Outline: o.Encode(),
		Target:  canonicalTarget(f, base, c.canonicals),
		NoIndex: r.noIndex, NoFollow: r.noFollow,
		Key: c.key,
	}
	if !doc.NoFollow {
		doc.Links = countingLinks(f.URL, base, c.links, maxLinkBytes)
		doc.Frames = distinctURLs(f.URL, base, c.frames, MaxFrames, maxFrameBytes)
	}
	return doc
}

// resolver returns the resolver of the page's references: against its <base href>, which
// is itself relative to the page, or else against the page. Against a base of another scheme,
// such as file:, no relative reference names an http or https URL. The HTML standard passes
// over a base that is not a URL, and over data: and javascript:.
func (d *directives) resolver(self URL) *Resolver {
	own := NewResolver(self)
	if !d.hasBase {
		return own
	}
	based, err := own.against(d.baseRef)
	switch {
	case err == nil:
		return based
	case errors.Is(err, ErrNotHTTP) && !isPassedOver(d.baseRef):
		return NewResolver("")
	}
	return own
}

// isPassedOver reports whether a base of another scheme is one that does not count.
func isPassedOver(ref string) bool {
	u, err := parser.Parse(ref)
	return err != nil || u.Scheme() == "data" || u.Scheme() == "javascript"
}
