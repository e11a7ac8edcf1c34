package page

import (
	"net/http"
	"strings"
)

// MaxAnchorLength is the number of code points at which anchors are cut.
const MaxAnchorLength = 256

// InterpretVersion names what [Interpret] makes of fetches. It rises with every change of
// package page after which some fetch means something else: another anchor, another
// text, another content key. A repository whose pages were interpreted by another version
// interprets them anew when it is opened.
//
// 1 has no number stored. 2: the alt of an image is a word of its own in an anchor.
// 3: frames.
const InterpretVersion = 3

// Interpret says what a fetch means on its own: the outcome of semantics.md
// section 2 and, of pages, what section 3 defines. It never fails, whatever the
// body holds; it depends on nothing but f; it keeps no reference to f.Body.
//
// A revisit brings no payload and so means nothing on its own: the result has
// the outcome Unfetched.
func Interpret(f *Fetch) Document {
	switch {
	case f.Err != "":
		return Document{Outcome: Failed}
	case f.IsRevisit():
		return Document{Outcome: Unfetched}
	case f.Status == http.StatusNotFound || f.Status == http.StatusGone:
		return Document{Outcome: Gone}
	case isRedirectStatus(f.Status):
		return interpretRedirect(f)
	case f.Status < 200 || f.Status > 299:
		return Document{Outcome: Failed}
	case isRobotsTxt(f.URL):
		return Document{Outcome: Other}
	}
	k := bodyKind(f)
	if k == kindOther {
		return Document{Outcome: Other}
	}
	return interpretPage(f, k)
}

// IsRevisit reports that the fetch brought no payload as it is the same as
// before: it renews the time and nothing else.
func (f *Fetch) IsRevisit() bool {
	return f.Err == "" && (f.Revisit || f.Status == http.StatusNotModified)
}

func isRedirectStatus(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func isRobotsTxt(u URL) bool {
	return u.Path() == "/robots.txt" && u.Query() == ""
}

func interpretRedirect(f *Fetch) Document {
	location := strings.TrimSpace(f.Header.Get("Location"))
	if location == "" {
		return Document{Outcome: Failed}
	}
	var r robots
	r.addHeader(f.Header)
	doc := Document{Outcome: Redirect, NoIndex: r.noIndex, NoFollow: r.noFollow}
	// A Location that is no http or https URL leads nowhere: Target stays empty.
	doc.Target, _ = f.URL.Resolve(location)
	return doc
}

func interpretPage(f *Fetch, k kind) Document {
	body := decode(f.Body, f.Header.Get("Content-Type"), k)
	var x extractor
	x.robots.addHeader(f.Header)
	if k == kindHTML {
		x.html(body)
	} else {
		x.text.write(string(body))
	}
	doc := Document{NoIndex: x.robots.noIndex, NoFollow: x.robots.noFollow}
	base := x.resolver(f.URL)
	if x.refresh != "" {
		if target, err := base.Resolve(x.refresh); err == nil {
			doc.Outcome, doc.Target = Redirect, target
			return doc
		}
	}
	doc.Outcome = Page
	doc.Title, doc.Text = x.title.String(), x.text.String()
	doc.Language = languageOf(x.lang, doc.Text)
	doc.Target = canonicalTarget(f, base, x.canonicals)
	if !doc.NoFollow {
		doc.Links = countingLinks(f.URL, base, x.links)
		doc.Frames = frameTargets(f.URL, base, x.frames)
	}
	doc.Key = contentKey(doc.Title, doc.Text, x.template.String(), f.Body)
	return doc
}

// canonicalTarget is the first rel=canonical that names an http or https URL,
// those of the HTML before those of the header, "" if that is the page itself.
func canonicalTarget(f *Fetch, base *Resolver, inHTML []string) URL {
	target := firstURL(base, inHTML)
	if target == "" {
		// The header's references are relative to the page, not to <base>.
		target = firstURL(NewResolver(f.URL), headerCanonicals(f.Header))
	}
	if target == f.URL {
		return ""
	}
	return target
}

func firstURL(base *Resolver, refs []string) URL {
	for _, ref := range refs {
		if u, err := base.Resolve(ref); err == nil {
			return u
		}
	}
	return ""
}
