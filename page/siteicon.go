package page

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/webindexer/indexer/page/icon"
)

// A site has an icon, which browsers show next to its name. Most sites have it at /favicon.ico,
// where browsers look by default, or under another typical name. Others name it by <link rel=icon>
// on their front page (NamedIcons), and it may have any name. But the loader must keep a body
// before it knows which pages name it. So small square images are kept as well, but they are icons
// only of sites that name them.

// IconUse says whether the body of a response is kept as an icon.
type IconUse uint8

// The uses.
const (
	NoIcon    IconUse = iota
	OwnIcon           // the icon of its site: its URL or its type says so
	NamedIcon         // the icon of a site if the site's front page names it
)

// IconUse reports for what the body of the response is kept as an icon.
func (f *Fetch) IconUse() IconUse {
	if !f.MayBeIcon() || !f.IsSuccess() {
		return NoIcon
	}
	switch {
	case !f.saysIcon():
		if icon.IsSquare(f.Body) {
			return NamedIcon
		}
	case icon.TypeOf(f.Body) != "":
		return OwnIcon
	}
	return NoIcon
}

// MayBeIcon reports whether URL and type are those of an icon, whatever the body is.
func (f *Fetch) MayBeIcon() bool {
	return f.saysIcon() || slices.Contains(namedTypes, essence(f.Header.Get("Content-Type")))
}

// saysIcon reports whether URL or type say that the response is an icon.
func (f *Fetch) saysIcon() bool {
	return iconClassOf(f.URL) < otherIcon || slices.Contains(iconTypes, essence(f.Header.Get("Content-Type")))
}

// namedTypes are the media types of images that are icons only of sites that name them. A
// photograph (JPEG) is not an icon, and a drawing (SVG) is shown nowhere.
var namedTypes = []string{"image/png", "image/gif", "image/webp", "image/x-png"}

// iconTypes are the media types of ICO files. The second one is registered.
var iconTypes = []string{"image/x-icon", "image/vnd.microsoft.icon", "image/ico", "image/icon"}

// iconClass orders icons by where they are, the most likely to stand for the site first.
type iconClass int

const (
	rootIcon  iconClass = iota // /favicon.ico
	namedIcon                  // /theme/lamp-favicon.png
	touchIcon                  // /apple-touch-icon-180x180.png, which is large
	otherIcon                  // recognised by its type
)

func iconClassOf(u URL) iconClass {
	if !strings.Contains(strings.ToLower(string(u)), "icon") {
		return otherIcon // as nearly all URLs
	}
	p := u.Path()
	name := strings.ToLower(path.Base(p))
	switch {
	case p == "/favicon.ico" && u.Query() == "":
		return rootIcon
	case strings.Contains(name, "favicon"):
		return namedIcon
	case strings.HasPrefix(name, "apple-touch-icon"):
		return touchIcon
	}
	return otherIcon
}

// CompareIcons orders the icons of one host: the first one represents it. Those at /favicon.ico
// come before those with a similar name, those for the home screens of telephones, and all
// others; then https before http; then the shortest URL; then the first in byte order. So the
// choice depends on the URLs alone, and not on when they were fetched.
func CompareIcons(a, b URL) int {
	return cmp.Or(cmp.Compare(iconClassOf(a), iconClassOf(b)), -cmp.Compare(a.Scheme(), b.Scheme()),
		cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// RootIcon is where browsers look for the icon of u's site.
func (u URL) RootIcon() URL {
	if site := u.Site(); site != "" {
		return URL(site + "/favicon.ico")
	}
	return ""
}
