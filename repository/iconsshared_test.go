package repository_test

import (
	"image/color"
	"net/http"
	"testing"
	"time"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/page/icon/icontest"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
)

// TestIconsShared: on a table that several processes share, each of them finds the icons of sites,
// which are read ahead there: at /favicon.ico, named by a front page, and elsewhere.
func TestIconsShared(t *testing.T) {
	f := newFleet(t)
	worker := f.joinWith(repository.Options{}, true, observers.LeaseRank, observers.LeaseIndex)
	loader := f.joinWith(repository.Options{}, false)
	image := icontest.PNG(16, color.Black)
	var fetches []page.Fetch
	for u, f := range map[page.URL]page.Fetch{
		"https://root.example/favicon.ico":   {Header: http.Header{"Content-Type": {"image/png"}}, Body: image},
		"https://named.example/":             {Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<link rel=icon href=/img/lamp.png><body>A page about lamps")},
		"https://named.example/img/lamp.png": {Header: http.Header{"Content-Type": {"image/png"}}, Body: image},
		"http://else.example/x/favicon.png":  {Header: http.Header{"Content-Type": {"image/png"}}, Body: image},
		"https://bare.example/":              {Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("A page about nothing")},
	} {
		f.URL, f.Time, f.Status = u, time.Unix(1, 0), http.StatusOK
		fetches = append(fetches, f)
	}
	load(t, loader.Repository, 2, fetches)
	want := []page.URL{"https://root.example/favicon.ico", "https://named.example/img/lamp.png", "http://else.example/x/favicon.png", "", ""}
	for _, m := range []*member{worker, loader} {
		icons, err := inspect.Icons(t.Context(), m.DB(), []page.URL{"https://root.example/a", "https://named.example/b", "https://else.example/", "https://bare.example/", "https://never.example/"})
		if err != nil {
			t.Fatal(err)
		}
		for i, icon := range icons {
			if icon.URL != want[i] {
				t.Errorf("%s: icon %d is %q, want %q", m.process.Token(), i, icon.URL, want[i])
			}
		}
	}
	for _, m := range []*member{worker, loader} {
		closeNow(t, m.Repository)
	}
}
