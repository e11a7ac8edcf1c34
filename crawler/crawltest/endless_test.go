package crawltest

import (
	"crypto/md5"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// endlessHost is an endless host, and how many pages of it must be fetched at least and
// at most: a trap costs some pages, and a rule must not reject good ones.
type endlessHost struct {
	name        string
	least, most int
	make        func(path string) (body string, ok bool)
}

var endless = []endlessHost{
	// A month leads to the next; three years ahead are enough of them.
	{"calendar.ip60", 36, 49, calendar},
	// Five filters of four values each make 3124 views of one list.
	{"filters.ip61", 900, 1100, filters},
	// A link that is relative by mistake.
	{"deeper.ip62", 2, 5, func(path string) (string, bool) { return link("More", path, "deeper/"), true }},
	// Each level has a name of its own.
	{"levels.ip63", 15, 22, func(path string) (string, bool) {
		return link("Level", path, "l"+strconv.Itoa(strings.Count(path, "/"))+"/"), true
	}},
	// Each response has a session id of its own, and its page without one.
	{"session.ip64", 1, 4, func(path string) (string, bool) {
		return link("Session", path, fmt.Sprintf("/page?PHPSESSID=%x", md5.Sum([]byte(path)))), true
	}},
	// Each page redirects to another one, by HTML.
	{"refresh.ip65", 2, 12, func(path string) (string, bool) {
		return fmt.Sprintf(`<meta http-equiv="refresh" content="0; url=%sx">`, path), true
	}},
}

// TestEndless: the crawl of endless sites soon ends on its own. Politeness is off,
// because thousands of pages would take a minute.
func TestEndless(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, e := range endless {
		fmt.Fprintf(&text, "-- 2024-01-01 http://%s/robots.txt --\nContent-Type: text/plain\n\nUser-agent: *\nAllow: /\n", e.name)
	}
	w := Serve(t, text.String())
	s := NewSetting(t.TempDir(), -1)
	s.Options.Politeness.PerHost, s.Options.Politeness.PerIP, s.Options.Politeness.PerDomain = 8, -1, -1
	s.WARC = ""
	endless := endless
	if testing.Short() { // without the thousand views of filters
		endless = slices.DeleteFunc(slices.Clone(endless), func(e endlessHost) bool { return e.most > 100 })
	}
	for _, e := range endless {
		w.Make(e.name, e.make)
		s.Seeds = append(s.Seeds, w.URL("http://"+e.name+"/"))
	}
	crawlOnce(t, s)

	pages := make(map[string]int)
	for _, n := range w.Counts() {
		if n > 1 {
			t.Errorf("a page was requested %d times", n)
		}
	}
	for name := range w.Counts() {
		host, _, _ := strings.Cut(name, "/")
		pages[host]++
	}
	for _, e := range endless {
		t.Logf("%s: %d pages", e.name, pages[e.name])
		if n := pages[e.name]; n < e.least || n > e.most {
			t.Errorf("%s: %d pages were requested, want %d to %d", e.name, n, e.least, e.most)
		}
	}
}

// link is a page that says what it is and has one link.
func link(what, path, href string) string {
	return fmt.Sprintf(`<title>%s</title><p>%s at %s: this page of a site without an end is like all its others, and leads to <a href="%s">the next</a>.`, what, what, path, href)
}

// calendar has a page for each month.
func calendar(path string) (string, bool) {
	year, month := time.Now().Year(), 1
	if n, _ := fmt.Sscanf(path, "/calendar/%d/%d", &year, &month); n != 2 && path != "/" {
		return "", false
	}
	if month++; month > 12 {
		year, month = year+1, 1
	}
	return link("Month", path, fmt.Sprintf("/calendar/%04d/%02d", year, month)), true
}

// filters has a list with five filters, which every page lets change.
func filters(path string) (string, bool) {
	_, query, _ := strings.Cut(path, "?")
	chosen := make(map[string]string)
	for part := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(part, "="); ok {
			chosen[name] = value
		}
	}
	names := []string{"brand", "colour", "size", "sort", "view"}
	var b strings.Builder
	fmt.Fprintf(&b, "<title>List</title><p>The goods of the shop as %s wants them, and there is no end to how they can be shown:", query)
	for _, name := range names {
		for v := range 4 {
			b.WriteString(` <a href="/list?`)
			for _, n := range names {
				value := chosen[n]
				if n == name {
					value = strconv.Itoa(v)
				}
				if value != "" {
					fmt.Fprintf(&b, "%s=%s&", n, value)
				}
			}
			b.WriteString(`end">x</a>`)
		}
	}
	return b.String(), true
}
