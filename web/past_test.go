package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/webindexer/indexer/page"
)

// inspected are some fields of /api/inspect.
type inspected struct {
	Title string
	AsOf  *struct {
		TS    uint64
		Asked *time.Time
	} `json:"as_of"`
	Indexed  bool
	Outlinks []struct{ URL string }
	Inlinks  []struct{ Source string }
}

func (s *stand) inspect(query string) (i inspected) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.get("/api/inspect?"+query)), &i); err != nil {
		s.t.Fatal(err)
	}
	return i
}

// Each version of a page links to what was known while it was in force: its title, its
// links in both directions, its copy. These pages are marked as the past, and their links
// stay in it.
func TestPast(t *testing.T) {
	const u, other = "https://news.example/", "https://other.example/"
	s := newStand(t, []page.Fetch{
		fetched(u, 1, `<title>First news</title><p>The first words of the news. <a href="/one">one</a>`),
		fetched(other, 1, `<title>Other</title><p>Another page. <a href="`+u+`">the news of today</a>`),
	}, nil)
	s.load(fetched(u, 2, `<title>Second news</title><p>The second words of the news. <a href="/two">two</a>`), fetched(other, 2, `<title>Other</title><p>Another page, without links now.`))
	s.load(fetched(u, 3, `<title>Third news</title><p>The third words of the news.`))

	now := s.get(doc(u))
	if strings.Contains(now, "You are viewing the past") {
		t.Error("the page of now says that it is the past")
	}
	var then []string
	for _, l := range links(t, now) {
		if strings.HasPrefix(l, "/doc?at=") {
			then = append(then, l)
		}
	}
	if len(then) != 2 {
		t.Fatalf("the past is linked as %q, want two versions", then)
	}
	for i, want := range []struct {
		title, outlink, fetched, until string
		inlinks                        int
	}{{"Second news", "https://news.example/two", "2 Jan 2026", "3 Jan 2026", 0}, {"First news", "https://news.example/one", "1 Jan 2026", "2 Jan 2026", 1}} {
		body := s.get(then[i])
		for _, part := range []string{"You are viewing the past", want.title + "</bdi></h1>", want.outlink + "</bdi>", ">" + want.fetched + ", 12:00:00 UTC</time>, just before", "the next fetch on", want.until, "Was in the index", `<span class="tag">shown</span>`, "Cached copy from that time"} {
			if !strings.Contains(body, part) {
				t.Errorf("version %d does not have %q:\n%s", i, part, body)
			}
		}
		if strings.Contains(body, "Third news") {
			t.Errorf("version %d has the title of now", i)
		}
		at, copies := mustQuery(t, then[i]).Get("at"), 0
		for _, l := range links(t, body) {
			if strings.HasPrefix(l, "/view?") && strings.Contains(body, `"`+html.EscapeString(l)+`">Cached copy from that time`) {
				copies++
				text := s.get("/copy?" + mustQuery(t, l).Encode() + "&view=text")
				if !strings.Contains(text, want.title) {
					t.Errorf("the copy of version %d says %q", i, text)
				}
			}
			if strings.HasPrefix(l, "/doc?") && strings.Contains(l, url.QueryEscape(want.outlink)) && mustQuery(t, l).Get("at") != at {
				t.Errorf("version %d leads on to %s, which is not as of %s", i, l, at)
			}
		}
		if copies != 1 {
			t.Errorf("version %d has %d links to its copy", i, copies)
		}
		api := s.inspect("at=" + at + "&url=" + u)
		if api.Title != want.title || api.AsOf == nil || fmt.Sprint(api.AsOf.TS) != at || len(api.Inlinks) != want.inlinks || len(api.Outlinks) != 1 || api.Outlinks[0].URL != want.outlink {
			t.Errorf("version %d is told as %+v", i, api)
		}
	}
	if api := s.inspect("url=" + u); api.Title != "Third news" || api.AsOf != nil {
		t.Errorf("now is told as %+v", api)
	}
	begun := s.inspect("url=" + u + "&at=" + url.QueryEscape(time.Now().UTC().Format(time.RFC3339Nano)))
	if begun.Title != "Third news" || begun.AsOf == nil || begun.AsOf.Asked == nil {
		t.Errorf("the time of day is told as %+v", begun)
	}
}

func mustQuery(t *testing.T, link string) url.Values {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// A moment that is not available is not a server error, and the answer says what is available.
func TestMomentsThatCannotBeTold(t *testing.T) {
	s := newStand(t, []page.Fetch{fetched("https://news.example/", 1, "<title>News</title><p>Words.")}, nil)
	for _, tt := range []struct {
		at, says string
		status   int
	}{
		{"yesterday", "a time such as", http.StatusBadRequest},
		{"-1", "a time such as", http.StatusBadRequest},
		{"0", "a time such as", http.StatusBadRequest},
		{"99999999999999999999999", "a time such as", http.StatusBadRequest},
		{"9999999999", "the future has no state yet", http.StatusNotFound},
		{"2999-01-01T00:00:00Z", "the future has no state yet", http.StatusNotFound},
		{"1999-01-01T00:00:00Z", "is not kept", http.StatusNotFound},
	} {
		for _, path := range []string{"/doc?url=https://news.example/&at=", "/api/inspect?url=https://news.example/&at="} {
			a := s.do(path+tt.at, nil)
			if a.status != tt.status || !strings.Contains(a.body, tt.says) || strings.Contains(a.body, "overview of") {
				t.Errorf("%s%s: %d, want %d with %q: %s", path, tt.at, a.status, tt.status, tt.says, a.body)
			}
		}
	}
}
