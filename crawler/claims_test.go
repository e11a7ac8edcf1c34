package crawler

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/page"
)

// TestAllowances: the results of visits that were brought forward decide how many more
// a host may bring forward.
func TestAllowances(t *testing.T) {
	for _, tt := range []struct {
		tests string // of visits: + changed, - not
		want  int
	}{
		{"", 16}, {"-------", 16}, {"--------", 1}, {"++++++++", claimsAll}, {"+++++++", 16},
		{"++--------", 1}, {"+++--------", claimsUnknown}, {"++------", 16}, {"++-------", 16},
		{"+++++++++++++-------", claimsAll}, {"++++++++--------", 16},
		{strings.Repeat("-", 1000), 1}, {strings.Repeat("-", 1000) + strings.Repeat("+", 40), claimsAll},
	} {
		var c claims
		for _, r := range tt.tests {
			c.learn(r == '+')
		}
		if got := c.allowance(); got != tt.want {
			t.Errorf("%s: %d, want %d (%+v)", tt.tests, got, tt.want, c)
		}
	}
}

// lastmods is a site of pages whose sitemap is made anew for each request.
type lastmods struct {
	pages   int
	lastmod func(page int, now time.Time) time.Time
	changed func(page int, now time.Time) int // the version of a page
}

func (s lastmods) answer(u page.URL) (answer, bool) {
	a := answer{status: 200, took: 10 * time.Millisecond, header: http.Header{}}
	now := time.Now()
	switch u.Path() {
	case "/robots.txt":
		a.body = "Sitemap: /s.xml"
	case "/s.xml":
		var b strings.Builder
		for i := range s.pages {
			fmt.Fprintf(&b, "<url><loc>/%d</loc><lastmod>%s</lastmod></url>", i, s.lastmod(i, now).Format(time.RFC3339))
		}
		a.body = "<urlset>" + b.String() + "</urlset>"
	default:
		var i int
		if _, err := fmt.Sscanf(u.Path(), "/%d", &i); err != nil {
			return a, false
		}
		a.header.Set("Content-Type", "text/html")
		a.body = htmlPage(fmt.Sprintf("page %d version %d", i, s.changed(i, now)))
	}
	return a, true
}

// visitsByDay crawls such a site, whose pages are otherwise visited once a year, and
// counts the requests of pages by day.
func visitsByDay(t *testing.T, s lastmods, days int) (list []int) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0")
		w.dynamic = s.answer
		const year = 365 * 24 * time.Hour
		o := Options{Follow: true, Revisits: Revisits{FirstInterval: year, MinInterval: time.Hour, MaxInterval: year}}
		c := newCrawler(o, f, w, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(days)*24*time.Hour+time.Hour, cancel)
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		f.check(t)
		checkPoliteness(t, w, o.WithDefaults())
		list = make([]int, days+1)
		for _, x := range w.byStart() {
			if p := x.url.Path(); p != "/robots.txt" && p != "/s.xml" {
				list[x.start.Sub(epoch)/(24*time.Hour)]++
			}
		}
	})
	return list
}

// TestLastmods: a host with false times gets one extra visit a day; the changes of a
// host with true times are noticed the same day.
func TestLastmods(t *testing.T) {
	const never = 0
	day := func(now time.Time) int { return int(now.Sub(epoch) / (24 * time.Hour)) }
	unchanged := func(int, time.Time) int { return never }
	for _, tt := range []struct {
		name string
		site lastmods
		want string
	}{
		{"always now", lastmods{40, func(_ int, now time.Time) time.Time { return now }, unchanged}, "[41 16 1 1 1 1]"},
		{"in a year", lastmods{40, func(_ int, now time.Time) time.Time { return now.AddDate(1, 0, 0) }, unchanged}, "[40 0 0 0 0 0]"},
		{"long ago", lastmods{40, func(int, time.Time) time.Time { return epoch.AddDate(-1, 0, 0) }, unchanged}, "[40 0 0 0 0 0]"},
		{"true", lastmods{40,
			func(_ int, now time.Time) time.Time {
				return epoch.Add(time.Duration(day(now))*24*time.Hour + time.Second)
			},
			func(_ int, now time.Time) int { return day(now) }}, "[40 16 40 40 40 40]"},
	} {
		if got := fmt.Sprint(visitsByDay(t, tt.site, 5)); got != tt.want {
			t.Errorf("%s: %s visits by day, want %s", tt.name, got, tt.want)
		}
	}
}
