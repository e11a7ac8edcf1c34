package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
)

// TestSiteIcons: a server asks for each site once in a minute, and not at all for some time after
// there was no answer.
func TestSiteIcons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c siteIcons
		var asked []page.URL
		var trouble error
		ask := func(_ context.Context, fronts []page.URL) ([]inspect.SiteIcon, error) {
			asked = append(asked, fronts...)
			found := make([]inspect.SiteIcon, len(fronts))
			for i, front := range fronts {
				if front != "https://bare.example/" {
					found[i] = inspect.SiteIcon{URL: front.RootIcon(), Version: "of " + front.Host()}
				}
			}
			return found, trouble
		}
		step := func(name string, fronts, want []page.URL, versions string) {
			t.Helper()
			asked = nil
			got, err := c.of(t.Context(), fronts, ask)
			if !errors.Is(err, trouble) && want != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !slices.Equal(asked, want) || fmt.Sprint(got) != versions {
				t.Errorf("%s: asked for %q, not %q; icons %v, not %s", name, asked, want, got, versions)
			}
		}
		const a, b, bare page.URL = "https://a.example/", "https://b.example/", "https://bare.example/"
		step("the first time", []page.URL{a, bare, a}, []page.URL{a, bare}, "map[https://a.example/:of a.example https://bare.example/:]")
		step("another site", []page.URL{b, a, bare}, []page.URL{b}, "map[https://a.example/:of a.example https://b.example/:of b.example https://bare.example/:]")
		step("nothing new", []page.URL{a}, nil, "map[https://a.example/:of a.example]")
		time.Sleep(iconMemory)
		trouble = ErrElsewhere
		step("no answer", []page.URL{a}, []page.URL{a}, "map[https://a.example/:]")
		trouble = nil
		step("soon after", []page.URL{a}, nil, "map[https://a.example/:]")
		time.Sleep(pictureRest + 1)
		step("later", []page.URL{a}, []page.URL{a}, "map[https://a.example/:of a.example]")
		for i := range maxKnownIcons {
			c.remember([]page.URL{page.URL(fmt.Sprintf("https://%d.example/", i))}, []inspect.SiteIcon{{}})
		}
		if len(c.known) > maxKnownIcons {
			t.Errorf("%d sites are remembered", len(c.known))
		}
	})
}
