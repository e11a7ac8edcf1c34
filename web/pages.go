package web

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/web/assets"
)

//go:embed templates
var templates embed.FS

// functions are available to templates.
var functions = template.FuncMap{
	"title":  func(s string) string { return clean(s, maxTitle) },
	"anchor": func(s string) string { return clean(s, maxAnchor) },
	"shown":  func(u page.URL) string { return clean(string(u), maxShown) },
	"text":   func(s string) string { return clean(s, 1000) },
	"href":   href,
	"crumbs": crumbs,
	"doc":    func(u page.URL) string { return "/doc?" + url.Values{"url": {string(u)}}.Encode() },
	"number": number,
	"things": func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return number(n) + " " + many
	},
	"language": func(tag string) string {
		if name := languageName(tag); name != clean(tag, 35) {
			return name + " (" + clean(tag, 35) + ")"
		}
		return clean(tag, 35)
	},
	"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"day":     func(t time.Time) string { return t.UTC().Format("2 Jan 2006") },
	"moment":  func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05") + " UTC" },
	"rank":    func(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) },
	"score":   func(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) },
	"percent": percent,
	"short":   func(s string) string { return bounded(s, 12) },
	"bytes":   byteCount,
	"robots":  robotsWords,
}

// parsePages parses each page together with the layout.
func parsePages() (map[string]*template.Template, error) {
	names, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: templates: %w", err)
	}
	pages := make(map[string]*template.Template)
	for _, name := range names {
		t, err := assets.Layout()
		if err != nil {
			return nil, err
		}
		if t, err = t.Funcs(functions).ParseFS(templates, name); err != nil {
			return nil, fmt.Errorf("web: template %s: %w", name, err)
		}
		pages[path.Base(name)] = t
	}
	return pages, nil
}

// number groups digits by thousands with narrow no-break spaces.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

func byteCount(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f kB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// pager holds the links through a list that is shown page by page.
type pager struct {
	Previous, Next string // links; "" at the ends
	Pages          []pageLink
	From, To       int // first and last entry shown, counted from 1
	Total          int
	Of             string // what the list holds
	About          bool   // Total is not exact
	Beyond         bool   // there are more entries than the pages show
}

// pageLink leads to a page of a list by its number. Current is the page that is shown.
type pageLink struct {
	Number  int
	Link    string
	Current bool
}

// nearPages is how many pages before and after the current one have links.
const nearPages = 3

// newPager makes links that set the parameter name to the number of a page, from 1.
func newPager(path string, params url.Values, name string, number, size, total int) pager {
	link := func(n int) string {
		q := make(url.Values, len(params))
		for k, v := range params {
			q[k] = v
		}
		q.Del(name)
		if n > 1 {
			q.Set(name, strconv.Itoa(n))
		}
		return path + "?" + q.Encode()
	}
	p := pager{Total: total, From: min((number-1)*size+1, total), To: min(number*size, total)}
	last := (total + size - 1) / size
	if number > 1 {
		p.Previous = link(min(number-1, max(last, 1)))
	}
	if number*size < total {
		p.Next = link(number + 1)
	}
	for n := max(1, number-nearPages); n <= min(number+nearPages, last); n++ {
		p.Pages = append(p.Pages, pageLink{n, link(n), n == number})
	}
	return p
}

// pageNumber reads a parameter that counts pages from 1.
func pageNumber(params url.Values, name string, most int) (int, error) {
	raw := params.Get(name)
	if raw == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < 1 || n > most {
		return 0, badRequest(fmt.Sprintf("the parameter %s must be a page number from 1 to %d", name, most))
	}
	return n, nil
}
