package web

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/web/assets"
)

//go:embed templates
var templates embed.FS

// functions are available to templates.
var functions = template.FuncMap{
	"title":    func(s string) string { return clean(s, maxTitle) },
	"anchor":   func(s string) string { return clean(s, maxAnchor) },
	"shown":    func(u page.URL) string { return clean(string(u), maxShown) },
	"text":     func(s string) string { return clean(s, 1000) },
	"href":     href,
	"crumbs":   crumbs,
	"doc":      func(u page.URL) string { return address("/doc", u, 0, "") },
	"number":   assets.Number[int],
	"things":   assets.Plural[int],
	"language": languageAndTag,
	"machine":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"day":      func(t time.Time) string { return t.UTC().Format("2 Jan 2006") },
	"moment":   moment,
	"times":    withMoments,
	"rank":     func(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) },
	"score":    func(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) },
	"percent":  percent,
	"short":    func(s string) string { return bounded(s, 12) },
}

func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05") + " UTC" }

var machineTime = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// withMoments writes the times in a report of the program like all others on the page.
func withMoments(report string) string {
	return machineTime.ReplaceAllStringFunc(report, func(s string) string {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return s
		}
		return moment(t)
	})
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
