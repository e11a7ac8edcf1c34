package inspect

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// ErrNoIcon means that no icon of a site is stored.
var ErrNoIcon = errors.New("there is no stored icon")

// maxIcons bounds how many URLs of a site are examined whose names say that they may be its icon.
// maxSquares bounds how many others are, which can be the icon only if the site names them. A
// site has a few; a site with more gets the best of the first, in the order of their rows.
const (
	maxIcons   = 500
	maxSquares = 5000
)

// SiteIcon is the icon of a site.
type SiteIcon struct {
	URL page.URL `json:"url"` // "" if the site has none
	// Version identifies the image: hexadecimal digits that change when the image does.
	Version string `json:"version"`
}

// Icons returns the icons of the sites of urls, in the same order.
func Icons(ctx context.Context, db *txn.DB, urls []page.URL) ([]SiteIcon, error) {
	icons := make([]SiteIcon, len(urls))
	err := db.View(ctx, func(tx *txn.Txn) (err error) {
		if err := readIconsAhead(ctx, tx, urls); err != nil {
			return fmt.Errorf("icons of %d sites: %w", len(urls), err)
		}
		for i, u := range urls {
			if icons[i], err = iconOf(ctx, tx, u); err != nil {
				return fmt.Errorf("icon of %s: %w", u.Site(), err)
			}
		}
		return nil
	})
	return icons, err
}

// readIconsAhead reads, for all sites at the same time, what the choice of each site's icon
// reads first: on a table that several processes share, each read takes milliseconds.
func readIconsAhead(ctx context.Context, tx *txn.Txn, urls []page.URL) error {
	var roots, pages []string
	for _, u := range urls {
		for _, front := range fronts(u) {
			roots, pages = append(roots, schema.URLRow(front.RootIcon())), append(pages, schema.URLRow(front))
		}
	}
	if _, err := tx.ScanAhead(ctx, schema.GroupIcon, pages); err != nil {
		return err
	}
	return tx.ReadAhead(ctx, txn.Ahead{Rows: roots, Columns: []txn.Column{schema.Icon}}, txn.Ahead{Rows: pages, Columns: []txn.Column{schema.FetchContent}})
}

// Icon returns the image of the icon of a URL's site. The error matches ErrNoIcon if there is
// none.
func Icon(ctx context.Context, db *txn.DB, u page.URL) (image []byte, err error) {
	err = db.View(ctx, func(tx *txn.Txn) error {
		icon, err := iconOf(ctx, tx, u)
		if err != nil || icon.URL == "" {
			return cmp.Or(err, ErrNoIcon)
		}
		v, err := tx.GetOnce(ctx, schema.URLRow(icon.URL), schema.IconImage)
		if err == nil && iconVersion(sha256.Sum256(v.Data)) != icon.Version {
			err = fmt.Errorf("%s at %s is not the image that was stored; run `indexer check` to look for damage", schema.IconImage, icon.URL)
		}
		image = v.Data
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("icon of %s: %w", u.Site(), err)
	}
	return image, nil
}

// A site's icon is the one at /favicon.ico, or else the one that its front page names, or else
// one on its host whose name is that of an icon. These are the places of an icon.
const (
	placeRoot = iota
	placeNamed
	placeElse
)

// placedIcon is an icon with its place.
type placedIcon struct {
	SiteIcon
	place int
}

// comparePlaced orders the icons of a site, the best first.
func comparePlaced(a, b placedIcon) int {
	return cmp.Or(cmp.Compare(a.place, b.place), page.CompareIcons(a.URL, b.URL))
}

// iconOf chooses the icon of a site from all https and http URLs with its host and port, and
// those that its front pages name.
func iconOf(ctx context.Context, tx *txn.Txn, u page.URL) (SiteIcon, error) {
	var best placedIcon
	for _, front := range fronts(u) {
		found, err := firstIcon(ctx, tx, front)
		if err != nil {
			return SiteIcon{}, err
		}
		if found.URL != "" && (best.URL == "" || comparePlaced(found, best) < 0) {
			best = found
		}
	}
	return best.SiteIcon, nil
}

// fronts returns the front pages of a site by https and by http.
func fronts(u page.URL) []page.URL {
	if u.Site() == "" {
		return nil
	}
	rest := u.Site()[len(u.Scheme()):] + "/"
	return []page.URL{page.URL("https" + rest), page.URL("http" + rest)}
}

// firstIcon returns the first icon of the site of a front page.
func firstIcon(ctx context.Context, tx *txn.Txn, front page.URL) (placedIcon, error) {
	root, err := storedIcon(ctx, tx, front.RootIcon(), schema.Icon)
	if err != nil || root.URL != "" {
		return placedIcon{root, placeRoot}, err
	}
	named, err := namedIcon(ctx, tx, front)
	if err != nil || named.URL != "" {
		return placedIcon{named, placeNamed}, err
	}
	other, err := otherIcon(ctx, tx, front)
	return placedIcon{other, placeElse}, err
}

// otherIcon returns the best of the URLs below a front page whose names are those of icons.
func otherIcon(ctx context.Context, tx *txn.Txn, front page.URL) (best SiteIcon, err error) {
	icons, squares := 0, 0
	err = tx.ScanPrefix(ctx, schema.GroupIcon, schema.URLRow(front), func(row string, cols []txn.Version) error {
		i := slices.IndexFunc(cols, func(c txn.Version) bool { return c.Name == schema.Icon.Name })
		if i < 0 {
			if squares++; squares > maxSquares {
				return txn.ErrStop
			}
			return nil
		}
		if icons++; icons > maxIcons {
			return txn.ErrStop
		}
		found, err := schema.ParseURLRow(row)
		if err == nil && (best.URL == "" || page.CompareIcons(found, best.URL) < 0) {
			best, err = readIcon(found, cols[i].Data)
		}
		return err
	})
	return best, err
}

// storedIcon returns the icon at a URL, from one of these columns, or the zero value if there is
// none.
func storedIcon(ctx context.Context, tx *txn.Txn, u page.URL, columns ...txn.Column) (SiteIcon, error) {
	for _, c := range columns {
		v, err := tx.Get(ctx, schema.URLRow(u), c)
		if err != nil {
			return SiteIcon{}, err
		}
		if v.Exists {
			return readIcon(u, v.Data)
		}
	}
	return SiteIcon{}, nil
}

func readIcon(u page.URL, stored []byte) (SiteIcon, error) {
	sum, err := schema.DecodeIcon(stored)
	return SiteIcon{u, iconVersion(sum)}, err
}

func iconVersion(sum schema.IconSum) string { return hex.EncodeToString(sum[:12]) }
