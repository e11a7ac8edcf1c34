package inspect_test

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/icon/icontest"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
)

func grey(n int) []byte { return icontest.ICO(icontest.Bitmap(16, color.Gray{Y: uint8(n)})) }

func openRepository(t *testing.T) *repository.Repository {
	t.Helper()
	r, err := repository.Open(t.Context(), t.TempDir(), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	return r
}

// loadIcons loads icons, the image of each with a grey of its own, the first one black.
func loadIcons(t *testing.T, r *repository.Repository, urls ...page.URL) {
	t.Helper()
	for i, u := range urls {
		f := &page.Fetch{URL: u, Time: time.Unix(1, 0), Status: 200, Header: map[string][]string{"Content-Type": {"image/x-icon"}}, Body: grey(i)}
		if _, err := r.Load(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
}

// TestIcons: the icon of a site is one of its own host and port, whatever the other rows.
func TestIcons(t *testing.T) {
	r := openRepository(t)
	loadIcons(t, r, "https://a.example/favicon.ico", "http://a.example/favicon.ico", "https://a.example/z",
		"http://b.example/favicon.ico", "https://b.example/x/favicon.ico",
		"https://c.example:8443/favicon.ico", "https://c.example/apple-touch-icon.png", "https://c.example/lamp-favicon.png",
		"https://www.d.example/favicon.ico", "https://d.example.com/favicon.ico", "http://[::1]/favicon.png", "http://127.0.0.1:8080/x")
	for u, want := range map[page.URL]page.URL{
		"https://a.example/x":       "https://a.example/favicon.ico",
		"http://a.example/":         "https://a.example/favicon.ico",
		"https://b.example/":        "http://b.example/favicon.ico",
		"https://c.example/":        "https://c.example/lamp-favicon.png",
		"https://c.example:8443/":   "https://c.example:8443/favicon.ico",
		"http://c.example:8443/":    "https://c.example:8443/favicon.ico",
		"https://d.example/":        "",
		"https://www.d.example/x":   "https://www.d.example/favicon.ico",
		"http://[::1]/":             "http://[::1]/favicon.png",
		"http://127.0.0.1:8080/y?z": "http://127.0.0.1:8080/x",
		"http://127.0.0.1/":         "",
		"https://never.example/":    "",
		"":                          "",
	} {
		icons, err := inspect.Icons(t.Context(), r.DB(), []page.URL{u})
		if err != nil || icons[0].URL != want || (want == "") != (icons[0].Version == "") {
			t.Errorf("the icon of %q is %+v, %v; want %q", u, icons, err, want)
		}
		image, err := inspect.Icon(t.Context(), r.DB(), u)
		if want == "" && !errors.Is(err, inspect.ErrNoIcon) || want != "" && (err != nil || len(image) == 0) {
			t.Errorf("%q: an image of %d bytes, %v", u, len(image), err)
		}
	}
	if image, err := inspect.Icon(t.Context(), r.DB(), "http://a.example/"); err != nil || !bytes.Equal(image, grey(0)) {
		t.Errorf("the image is another one: %v", err)
	}
	all, err := inspect.Icons(t.Context(), r.DB(), []page.URL{"https://never.example/", "https://a.example/", "https://a.example/x"})
	if err != nil || len(all) != 3 || all[0].URL != "" || all[1] != all[2] {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestIconInAnyOrder: which icon of a site is chosen does not depend on the order in which they
// were loaded.
func TestIconInAnyOrder(t *testing.T) {
	urls := []page.URL{"http://a.example/favicon.png", "https://a.example/x/favicon.ico", "https://a.example/apple-touch-icon.png", "http://a.example/y/favicon.ico", "https://a.example/lamp"}
	want := slices.MinFunc(urls, page.CompareIcons)
	for seed := range testenv.Seeds(t, testenv.Fresh(t), 3) {
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
		r := openRepository(t)
		loadIcons(t, r, urls...)
		if icons, err := inspect.Icons(t.Context(), r.DB(), []page.URL{"https://a.example/"}); err != nil || icons[0].URL != want {
			t.Errorf("seed %d: %+v, %v; want %s", seed, icons, err, want)
		}
	}
}

// TestManyIcons: a host with more icons than are examined has one of them.
func TestManyIcons(t *testing.T) {
	r := openRepository(t)
	var urls []page.URL
	for i := range 520 {
		urls = append(urls, page.URL(fmt.Sprintf("https://a.example/%03d/favicon.ico", i)))
	}
	loadSquares(t, r, "https://a.example/0", "https://a.example/1") // they are none
	loadIcons(t, r, append(urls, "https://a.example/z-favicon.ico")...)
	icons, err := inspect.Icons(t.Context(), r.DB(), []page.URL{"https://a.example/"})
	if err != nil || icons[0].URL != urls[0] {
		t.Errorf("%+v, %v", icons, err)
	}
	loadIcons(t, r, "https://a.example/favicon.ico")
	if icons, err = inspect.Icons(t.Context(), r.DB(), []page.URL{"https://a.example/"}); err != nil || icons[0].URL != "https://a.example/favicon.ico" {
		t.Errorf("%+v, %v", icons, err)
	}
}

// loadFront loads a page whose head names icons, or a redirect.
func loadFront(t *testing.T, r *repository.Repository, u page.URL, day int, redirect string, icons ...string) {
	t.Helper()
	f := &page.Fetch{URL: u, Time: time.Unix(int64(day), 0), Status: 200, Header: map[string][]string{"Content-Type": {"text/html"}}}
	for _, href := range icons {
		f.Body = fmt.Appendf(f.Body, "<link rel=icon href=%s>", href)
	}
	f.Body = append(f.Body, "<body>A page about lamps"...)
	if redirect != "" {
		f.Status, f.Body = 302, nil
		f.Header.Set("Location", redirect)
	}
	if _, err := r.Load(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// loadSquares loads square images, each with another grey.
func loadSquares(t *testing.T, r *repository.Repository, urls ...page.URL) {
	t.Helper()
	for i, u := range urls {
		f := &page.Fetch{URL: u, Time: time.Unix(1, 0), Status: 200, Header: map[string][]string{"Content-Type": {"image/png"}}, Body: icontest.PNG(32, color.Gray{Y: uint8(100 + i)})}
		if _, err := r.Load(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNamedIcon: the icon of a site may have any name, if the front page of the site names it.
func TestNamedIcon(t *testing.T) {
	r := openRepository(t)
	loadSquares(t, r, "https://a.example/img/1.png", "https://a.example/img/2.png", "https://static.b.example/3.png", "https://c.example/4.png",
		"https://d.example/5.png", "https://e.example/6.png", "https://f.example/7.png", "https://g.example/8.png", "http://h.example/9.png")
	loadIcons(t, r, "https://c.example/favicon.ico", "https://d.example/x/favicon.png", "https://g.example/y/favicon.png")
	loadFront(t, r, "https://a.example/", 1, "", "/img/0.png", "/img/1.png", "/img/2.png")
	loadFront(t, r, "https://b.example/", 1, "", "https://static.b.example/3.png")
	loadFront(t, r, "https://c.example/", 1, "", "4.png")
	loadFront(t, r, "https://d.example/", 1, "", "5.png")
	loadFront(t, r, "https://e.example/", 1, "/en/")
	loadFront(t, r, "https://e.example/en/", 1, "", "/6.png")
	loadFront(t, r, "https://f.example/", 1, "https://elsewhere.example/")
	loadFront(t, r, "https://elsewhere.example/", 1, "", "https://f.example/7.png")
	loadFront(t, r, "https://g.example/", 1, "", "8.png")
	loadFront(t, r, "https://g.example/", 2, "")
	loadFront(t, r, "http://h.example/", 1, "", "9.png")
	loadFront(t, r, "https://i.example/", 1, "/")
	for u, want := range map[page.URL]page.URL{
		"https://a.example/x":        "https://a.example/img/1.png", // the first one that is stored
		"https://b.example/":         "https://static.b.example/3.png",
		"https://static.b.example/":  "", // no page there names it
		"https://c.example/":         "https://c.example/favicon.ico",
		"https://d.example/":         "https://d.example/5.png",
		"https://e.example/":         "https://e.example/6.png",
		"https://f.example/":         "", // its page is on another host
		"https://elsewhere.example/": "",
		"https://g.example/":         "https://g.example/y/favicon.png", // no page names the other one now
		"https://h.example/":         "http://h.example/9.png",
		"https://i.example/":         "", // it redirects to itself
	} {
		icons, err := inspect.Icons(t.Context(), r.DB(), []page.URL{u})
		if err != nil || icons[0].URL != want || (want == "") != (icons[0].Version == "") {
			t.Errorf("the icon of %q is %+v, %v; want %q", u, icons, err, want)
		}
	}
	image, err := inspect.Icon(t.Context(), r.DB(), "https://a.example/y")
	if err != nil || !bytes.Equal(image, icontest.PNG(32, color.Gray{Y: 100})) {
		t.Errorf("an image of %d bytes, %v", len(image), err)
	}
}
