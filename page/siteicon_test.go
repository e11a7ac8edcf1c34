package page

import (
	"image/color"
	"net/http"
	"slices"
	"testing"

	"github.com/webindexer/indexer/page/icon/icontest"
)

func TestIconUse(t *testing.T) {
	ico := icontest.ICO(icontest.Bitmap(16, color.Black))
	image := func(path, mediaType string, file []byte) Fetch {
		return Fetch{URL: URL("https://a.example" + path), Status: 200, Header: http.Header{"Content-Type": {mediaType}}, Body: file}
	}
	wide := icontest.WebP(16)
	wide[21]++ // the lowest bits of its width
	for name, tc := range map[string]struct {
		fetch Fetch
		want  IconUse
	}{
		"where browsers look":            {Fetch{URL: "https://a.example/favicon.ico", Status: 200, Body: ico}, OwnIcon},
		"by its name":                    {Fetch{URL: "https://a.example/theme/A-FavIcon.png?v=2", Status: 200, Body: icontest.PNG(16, color.Black)}, OwnIcon},
		"for telephones":                 {Fetch{URL: "https://a.example/apple-touch-icon-precomposed.png", Status: 200, Body: icontest.PNG(16, color.Black)}, OwnIcon},
		"by its type":                    {Fetch{URL: "https://a.example/lamp", Status: 200, Header: http.Header{"Content-Type": {"Image/X-Icon; charset=binary"}}, Body: ico}, OwnIcon},
		"whatever its server calls it":   {Fetch{URL: "https://a.example/favicon.ico", Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: ico}, OwnIcon},
		"a square image":                 {image("/icon/lamp.png", "image/png", icontest.PNG(16, color.Black)), NamedIcon},
		"a square image with parameters": {image("/lamp", "Image/GIF; x=y", icontest.GIF(16, color.Black)), NamedIcon},
		"a square image as a page":       {image("/lamp.png", "text/html", icontest.PNG(16, color.Black)), NoIcon},
		"a photograph":                   {image("/lamp.jpg", "image/jpeg", icontest.JPEG(16, color.Black)), NoIcon},
		"a photograph called an image":   {image("/lamp.png", "image/png", icontest.JPEG(16, color.Black)), NoIcon},
		"a square image that is large":   {image("/lamp.png", "image/png", icontest.PNG(600, color.Black)), NoIcon},
		"a banner":                       {image("/banner.webp", "image/webp", wide), NoIcon},
		"a banner called an icon":        {image("/favicon.webp", "image/webp", wide), OwnIcon},
		"a square image of an error":     {Fetch{URL: "https://a.example/lamp.png", Status: 404, Header: http.Header{"Content-Type": {"image/png"}}, Body: icontest.PNG(16, color.Black)}, NoIcon},
		"a page where browsers look":     {Fetch{URL: "https://a.example/favicon.ico", Status: 200, Header: http.Header{"Content-Type": {"image/x-icon"}}, Body: []byte("<title>Not found</title>")}, NoIcon},
		"an error with a picture":        {Fetch{URL: "https://a.example/favicon.ico", Status: 404, Body: ico}, NoIcon},
		"a body that could not be read":  {Fetch{URL: "https://a.example/favicon.ico", Status: 200, Err: "reset", Body: ico}, NoIcon},
		"a revisit":                      {Fetch{URL: "https://a.example/favicon.ico", Status: 200, Revisit: true, Body: ico}, NoIcon},
		"a directory named like an icon": {Fetch{URL: "https://a.example/favicon/lamp.png", Status: 200, Body: icontest.PNG(16, color.Black)}, NoIcon},
	} {
		if got := tc.fetch.IconUse(); got != tc.want {
			t.Errorf("%s: use %d, want %d", name, got, tc.want)
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
