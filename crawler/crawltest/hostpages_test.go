package crawltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/crawler/frontier"
)

// TestPagesPerHost: exactly the permitted number of pages of each host is visited; the
// rest is reported, and taken up when the limit is raised.
func TestPagesPerHost(t *testing.T) {
	t.Parallel()
	const pages = 60
	for _, perHost := range []int{1, 4} {
		t.Run(fmt.Sprint(perHost, " at a time"), func(t *testing.T) {
			t.Parallel()
			// A list that links to all pages and pages that link to each other, so that the
			// queue changes under way; some are disallowed, and do not count.
			var text strings.Builder
			names := []string{fmt.Sprintf("a%d.ip%d", perHost, 120+perHost), fmt.Sprintf("b%d.ip%d", perHost, 130+perHost)}
			for _, host := range names {
				fmt.Fprintf(&text, "-- 2024-01-01 http://%s/robots.txt --\nContent-Type: text/plain\n\nUser-agent: *\nDisallow: /p/2\n", host)
				text.WriteString(plainPages(host, pages))
				fmt.Fprintf(&text, "-- 2024-01-01 http://%s/ --\n<title>All of %s</title><p>A list of the pages of this host, of which there are more than may be visited:", host, host)
				for i := range pages {
					fmt.Fprintf(&text, " <a href=\"/p/%d\">%d</a>", pages-i, i)
				}
				text.WriteString("\n")
			}
			w := Serve(t, text.String())
			s := NewSetting(t.TempDir(), -1, w.URL("http://"+names[0]+"/"), w.URL("http://"+names[1]+"/"))
			s.Options.Politeness.PerHost, s.Options.Politeness.PerIP = perHost, -1
			session := openCrawl(t, s)
			defer closeCrawl(t, session)
			for _, limit := range []int{7, 7, 23, 0} {
				session.Config.MaxPagesPerHost = limit
				if err := session.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				want := limit
				if limit == 0 {
					want = pages + 1 - 11 // those that are disallowed
				}
				list, err := frontier.HostQueues(t.Context(), session.Repo.DB())
				if err != nil {
					t.Fatal(err)
				}
				requested := w.Counts()
				for _, h := range list {
					name, n := w.nameOf(h.Host), 0
					for url := range requested {
						if strings.HasPrefix(url, name+"/") {
							n++
						}
					}
					if n != want || h.Pages != want || (limit > 0) != (h.Beyond > 0) || h.Beyond != h.New {
						t.Errorf("limit %d: %d pages of %s were requested, want %d; its queue is %+v", limit, n, name, want, h)
					}
				}
				if limit > 0 {
					checkBeyond(t, w, session, names[0], limit)
				}
			}
		})
	}
}

// checkBeyond checks that inspect says about a page that waits that its host has had
// its pages.
func checkBeyond(t *testing.T, w *Web, s *Session, host string, limit int) {
	t.Helper()
	told := 0
	for i := range 60 {
		x, err := frontier.Inspect(t.Context(), s.Repo.DB(), w.URL(fmt.Sprintf("http://%s/p/%d", host, i+1)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(x.NotFetched, fmt.Sprintf("has had its %d pages", limit)) {
			told++
		}
	}
	if told == 0 {
		t.Error("inspect says of no page that it is beyond the limit")
	}
}
