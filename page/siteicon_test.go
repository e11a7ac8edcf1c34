package page

import (
	"image/color"
	"net/http"
	"slices"
	"testing"

	"github.com/webindexer/indexer/page/icon/icontest"
)

func TestIsIcon(t *testing.T) {
	ico := icontest.ICO(icontest.Bitmap(16, color.Black))
	for name, tc := range map[string]struct {
		fetch Fetch
		want  bool
	}{
		"where browsers look":            {Fetch{URL: "https://a.example/favicon.ico", Status: 200, Body: ico}, true},
		"by its name":                    {Fetch{URL: "https://a.example/theme/A-FavIcon.png?v=2", Status: 200, Body: icontest.PNG(16, color.Black)}, true},
		"for telephones":                 {Fetch{URL: "https://a.example/apple-touch-icon-precomposed.png", Status: 200, Body: icontest.PNG(16, color.Black)}, true},
		"by its type":                    {Fetch{URL: "https://a.example/lamp", Status: 200, Header: http.Header{"Content-Type": {"Image/X-Icon; charset=binary"}}, Body: ico}, true},
		"whatever its server calls it":   {Fetch{URL: "https://a.example/favicon.ico", Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: ico}, true},
		"another image":                  {Fetch{URL: "https://a.example/icon/lamp.png", Status: 200, Header: http.Header{"Content-Type": {"image/png"}}, Body: icontest.PNG(16, color.Black)}, false},
		"a page where browsers look":     {Fetch{URL: "https://a.example/favicon.ico", Status: 200, Header: http.Header{"Content-Type": {"image/x-icon"}}, Body: []byte("<title>Not found</title>")}, false},
		"an error with a picture":        {Fetch{URL: "https://a.example/favicon.ico", Status: 404, Body: ico}, false},
		"a body that could not be read":  {Fetch{URL: "https://a.example/favicon.ico", Status: 200, Err: "reset", Body: ico}, false},
		"a revisit":                      {Fetch{URL: "https://a.example/favicon.ico", Status: 200, Revisit: true, Body: ico}, false},
		"a directory named like an icon": {Fetch{URL: "https://a.example/favicon/lamp.png", Status: 200, Body: icontest.PNG(16, color.Black)}, false},
	} {
		if got := tc.fetch.IsIcon(); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCompareIcons(t *testing.T) {
	want := []URL{
		"https://a.example/favicon.ico",
		"http://a.example/favicon.ico",
		"https://a.example/favicon.png",
		"https://a.example/x/favicon.ico",
		"https://a.example/y/favicon.ico",
		"https://a.example/favicon.ico?v=2",
		"https://a.example/a/lamp-favicon.png",
		"http://a.example/favicon.png",
		"https://a.example/apple-touch-icon.png",
		"https://a.example/lamp",
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, CompareIcons)
	if !slices.Equal(got, want) {
		t.Errorf("the order is %q", got)
	}
	if root := URL("http://a.example:8080/x?y").RootIcon(); root != "http://a.example:8080/favicon.ico" {
		t.Errorf("the icon of a site is at %s", root)
	}
}
