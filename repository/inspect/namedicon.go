package inspect

import (
	"context"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// maxFrontHops is how many redirects are followed from the address of a front page to the page.
const maxFrontHops = 3

// namedIcon returns the first stored icon that the front page of a site names, or the zero value
// if there is none. It reads the page on each call: there is only one per site, its head is
// short, and so there is no cache to keep up to date.
func namedIcon(ctx context.Context, tx *txn.Txn, front page.URL) (SiteIcon, error) {
	names, err := iconNames(ctx, tx, front)
	if err != nil {
		return SiteIcon{}, err
	}
	for _, u := range names {
		icon, err := storedIcon(ctx, tx, u, schema.Icon, schema.SquareImage)
		if err != nil || icon.URL != "" {
			return icon, err
		}
	}
	return SiteIcon{}, nil
}

// iconNames returns the icons that a front page names. It follows redirects on the same host.
func iconNames(ctx context.Context, tx *txn.Txn, front page.URL) ([]page.URL, error) {
	at := front
	for range 1 + maxFrontHops {
		f, err := schema.ReadInForce(ctx, tx, at)
		if err != nil || f == nil {
			return nil, err
		}
		if _, err := f.ReadBody(ctx, tx); err != nil {
			return nil, err
		}
		if len(f.Body) > 0 {
			return page.NamedIcons(&f.Fetch), nil
		}
		doc := page.Interpret(&f.Fetch)
		if doc.Outcome != page.Redirect || doc.Target.Host() != front.Host() {
			return nil, nil
		}
		at = doc.Target
	}
	return nil, nil
}
