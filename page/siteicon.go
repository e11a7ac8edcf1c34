package page

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/webindexer/indexer/page/icon"
)

// A site has an icon, which browsers show beside its name. Most sites have it at /favicon.ico,
// where browsers look without being told. Others name it by <link rel=icon>; since a body has to
// be kept when it is loaded, before anybody knows which pages name it, an icon is recognised by
// its own URL and type.

// IsIcon reports whether the body of the response is kept as an icon of its site.
func (f *Fetch) IsIcon() bool {
	return f.MayBeIcon() && f.Err == "" && !f.IsRevisit() && f.Status >= 200 && f.Status <= 299 && icon.TypeOf(f.Body) != ""
}

// MayBeIcon reports whether URL and type are those of an icon, whatever the body is.
func (f *Fetch) MayBeIcon() bool {
	return iconClassOf(f.URL) < otherIcon || slices.Contains(iconTypes, essence(f.Header.Get("Content-Type")))
}

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

// CompareIcons orders the icons of one host: the first one stands for it. Those at /favicon.ico
// come before those with a name like it, those for the home screens of telephones, and all
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
