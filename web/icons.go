package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/icon"
	"github.com/webindexer/indexer/repository/inspect"
)

// A result shows the icon of its site, from its stored copy. An icon is a stranger's file: it is
// sent with a media type that we have recognised in its bytes, and with the policy of pictures.

// iconAge is how long browsers keep an icon whose address has its version.
const iconAge = "private, max-age=31536000, immutable"

// icon sends the icon of the site of a URL.
func (s *Server) icon(w http.ResponseWriter, r *http.Request) error {
	params := r.URL.Query()
	u, err := urlOf(params)
	if err != nil {
		return err
	}
	image, err := s.opts.Inspect.Icon(r.Context(), u)
	if errors.Is(err, inspect.ErrNoIcon) {
		return &requestError{http.StatusNotFound, "there is no stored icon of this site"}
	}
	if err != nil {
		return err
	}
	mediaType := icon.TypeOf(image)
	if mediaType == "" {
		return fmt.Errorf("icon of %s: the stored body is not an image", u.Site())
	}
	version, cacheControl := versionOf(image), "private, no-cache"
	if params.Get("v") == version {
		cacheControl = iconAge
	}
	sendImage(w, r, mediaType, image, version, cacheControl)
	return nil
}

// iconLink is the address of a version of the icon of a site.
func iconLink(front page.URL, version string) string {
	return "/icon?" + url.Values{"url": {string(front)}, "v": {version}}.Encode()
}

// showIcons gives each result the icon of its site. Like thumbnails, icons decorate results, and
// may delay a search by no more than pictureTimeout.
func (s *Server) showIcons(ctx context.Context, hits []hitView) {
	fronts := make([]page.URL, len(hits))
	for i, h := range hits {
		fronts[i] = frontOf(h.Hit.URL)
	}
	known, err := s.icons.of(ctx, fronts, s.opts.Inspect.Icons)
	if err != nil {
		s.opts.Log.Debug("results have no icons: " + err.Error())
	}
	some := false
	for i := range hits {
		if version := known[fronts[i]]; version != "" {
			hits[i].Icon, some = iconLink(fronts[i], version), true
		}
	}
	for i := range hits {
		hits[i].NoIcon = some && hits[i].Icon == ""
	}
}

// frontOf is the front page of a URL's site, which represents the site. A site has the same icon
// by http as by https.
func frontOf(u page.URL) page.URL {
	_, site, _ := strings.Cut(u.Site(), ":")
	return page.URL("https:" + site + "/")
}

// siteIcons remembers which icons sites have. It is safe for concurrent use.
type siteIcons struct {
	mu    sync.Mutex
	known map[page.URL]siteIcon // by front page
	rest  time.Time             // no questions until then, because there was no answer
}

type siteIcon struct {
	version string // "" if the site has none
	until   time.Time
}

// A server shows an icon that comes, changes or goes after at most iconMemory.
const (
	iconMemory    = time.Minute
	maxKnownIcons = 10_000
)

// of returns the versions of the icons of some sites, by front page; "" for a site without one. It
// asks for those that it does not remember.
func (c *siteIcons) of(ctx context.Context, fronts []page.URL, ask func(context.Context, []page.URL) ([]inspect.SiteIcon, error)) (map[page.URL]string, error) {
	versions, unknown := c.recall(fronts)
	if len(unknown) == 0 {
		return versions, nil
	}
	limited, cancel := context.WithTimeout(ctx, pictureTimeout)
	defer cancel()
	found, err := ask(limited, unknown)
	if err == nil && len(found) != len(unknown) {
		err = fmt.Errorf("%d icons for %d sites", len(found), len(unknown))
	}
	if err != nil {
		if ctx.Err() == nil {
			c.pause()
		}
		return versions, err
	}
	for i, front := range unknown {
		versions[front] = found[i].Version
	}
	c.remember(unknown, found)
	return versions, nil
}

// recall returns what is remembered, and the sites to be asked for, each once.
func (c *siteIcons) recall(fronts []page.URL) (versions map[page.URL]string, unknown []page.URL) {
	c.mu.Lock()
	defer c.mu.Unlock()
	versions = make(map[page.URL]string, len(fronts))
	now := time.Now()
	for _, front := range fronts {
		if _, seen := versions[front]; seen {
			continue
		}
		versions[front] = ""
		if k := c.known[front]; now.Before(k.until) {
			versions[front] = k.version
		} else if now.After(c.rest) {
			unknown = append(unknown, front)
		}
	}
	return versions, unknown
}

func (c *siteIcons) remember(fronts []page.URL, found []inspect.SiteIcon) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known)+len(fronts) > maxKnownIcons {
		c.known = make(map[page.URL]siteIcon)
	}
	until := time.Now().Add(iconMemory)
	for i, front := range fronts {
		c.known[front] = siteIcon{found[i].Version, until}
	}
}

func (c *siteIcons) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest = time.Now().Add(pictureRest)
}
