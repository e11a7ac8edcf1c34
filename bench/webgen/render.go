package webgen

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/page"
)

// began is when the first page of every web was fetched.
var began = time.Date(2024, 3, 1, 6, 0, 0, 0, time.UTC)

// interval is the time from one fetch to the next.
const interval = 50 * time.Millisecond

// Each calls fn with every response, from the given number of goroutines.
func (w *Web) Each(ctx context.Context, workers int, fn func(context.Context, *page.Fetch) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(workers, 1))
	for i := range w.Pages {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			f := w.Fetch(i)
			return fn(ctx, &f)
		})
	}
	return g.Wait()
}

// Fetch is the response of a URL.
func (w *Web) Fetch(i int) page.Fetch {
	f := page.Fetch{
		URL: page.URL(w.URL(i)), Time: began.Add(time.Duration(i) * interval), Status: http.StatusOK,
		Header: http.Header{"Server": {"webgen"}, "Content-Type": {"text/html; charset=utf-8"}},
	}
	switch k := w.kindOf(i); k {
	case kindMoved, kindElsewhere:
		f.Status = http.StatusMovedPermanently
		if k == kindElsewhere {
			f.Status = http.StatusFound
		}
		to := w.URL(w.original(i, k))
		f.Header.Set("Location", to)
		f.Body = fmt.Appendf(nil, "<html><head><title>Moved</title></head><body><p>See <a href=%q>here</a>.</p></body></html>\n", to)
	case kindMissing:
		f.Status = http.StatusNotFound
		f.Body = []byte("<html><head><title>Not Found</title></head><body><h1>Not Found</h1><p>There is no such page.</p></body></html>\n")
	case kindPage:
		f.Body = w.render(i, "")
	case kindAlias:
		original := w.original(i, k)
		f.Body = w.render(original, w.URL(original))
	default:
		f.Body = w.render(w.original(i, k), "")
	}
	return f
}

// render writes the HTML of a page. Its links are absolute, so a copy of it on another
// host says the same.
func (w *Web) render(i int, canonical string) []byte {
	h := w.hostOf(i)
	rng := w.rng(i, 'p')
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html>\n<html")
	if h.declares {
		fmt.Fprintf(&b, " lang=%q", h.language.tag)
	}
	title := w.title(i)
	fmt.Fprintf(&b, ">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s - %s</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n", title, h.name)
	if canonical != "" {
		fmt.Fprintf(&b, "<link rel=\"canonical\" href=%q>\n", canonical)
	}
	if rng.Float64() < 0.01 {
		b.WriteString("<meta name=\"robots\" content=\"noindex\">\n")
	}
	b.WriteString(script)
	b.WriteString("</head>\n<body>\n")
	w.renderMenu(&b, h)
	fmt.Fprintf(&b, "<main class=\"content\">\n<h1>%s</h1>\n", title)
	w.renderText(&b, i, h, rng)
	b.WriteString("</main>\n")
	fmt.Fprintf(&b, "<footer class=\"site-footer\"><p>Copyright %s. All rights reserved.</p></footer>\n</body>\n</html>\n", h.name)
	return b.Bytes()
}

// script is the part of a page that no reader sees.
var script = "<script>\n" + strings.Repeat("window.dataLayer = window.dataLayer || []; function gtag() { dataLayer.push(arguments); }\n", 30) + "</script>\n"

// renderMenu writes the links that all pages of a host have, to the first pages of its
// first sections.
func (w *Web) renderMenu(b *bytes.Buffer, h *host) {
	b.WriteString("<nav class=\"menu\"><ul>\n")
	for n := range min(20, h.size) {
		to := h.first + n*sectionSize%h.size
		fmt.Fprintf(b, "<li class=\"menu-item menu-item-%d\"><a href=%q>%s</a></li>\n", n, w.URL(to), w.title(to))
	}
	b.WriteString("</ul></nav>\n")
}

// renderText writes paragraphs with links in them. Numbers of words and links are
// drawn from log-normal distributions.
func (w *Web) renderText(b *bytes.Buffer, i int, h *host, rng *rand.Rand) {
	words := min(max(int(math.Exp(rng.NormFloat64())*float64(w.Words)), 5), 20_000)
	links := min(int(math.Exp(rng.NormFloat64())*10), words, 600)
	every := words / (links + 1)
	s := newSpeaker(rng, h.language, w.topic(i))
	for n, linked := 0, 0; n < words; {
		if rng.Float64() < 0.2 {
			fmt.Fprintf(b, "<h2 id=\"s%d\">%s %s</h2>\n", n, s.word(), s.word())
		}
		b.WriteString("<p class=\"text\">")
		for end := min(n+30+rng.IntN(90), words); n < end; n++ {
			if n%12 == 0 {
				fmt.Fprintf(b, "<code class=\"docutils literal notranslate\"><span class=\"pre\">%s</span></code>", s.word())
			} else {
				b.WriteString(s.word())
			}
			if linked < links && n >= (linked+1)*every {
				to := w.linked(i, h, rng)
				fmt.Fprintf(b, " <a href=%q>%s</a>", w.URL(to), w.title(to))
				linked++
			}
			if rng.IntN(12) == 0 {
				b.WriteByte('.')
			}
			b.WriteByte(' ')
		}
		b.WriteString("</p>\n")
	}
}

// linked draws where a link of a page leads: to its section, to the host, or to
// another host.
func (w *Web) linked(i int, h *host, rng *rand.Rand) int {
	switch x := rng.Float64(); {
	case x < 0.6:
		section := (i - h.first) / sectionSize * sectionSize
		return h.first + section + rng.IntN(min(sectionSize, h.size-section))
	case x < 0.85:
		return h.popular(rng)
	}
	return w.popular(rng)
}
