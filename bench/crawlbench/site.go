package crawlbench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// site is a web of numbered pages. A server on loopback generates each page when it is
// requested, every time the same. It keeps none in memory, so the memory of a run is
// that of the crawler.
//
// Page i links to pages tree·i+1 to tree·i+tree, so that all are reached from page
// 0 in few steps, and to others by chance: most links lead to what is known.
type site struct {
	pages  int
	links  int // on a page
	tree   int // of them, those that lead to new pages
	bytes  int // of a page, about
	words  []string
	bodies sync.Pool
}

// newSite: pages of about size bytes.
func newSite(pages, links, tree, size int) *site {
	s := &site{pages: pages, links: links, tree: tree, bytes: size, words: vocabulary(8192)}
	s.bodies.New = func() any { b := make([]byte, 0, 2*size); return &b }
	return s
}

// vocabulary makes up words of two to four syllables.
func vocabulary(n int) []string {
	syllables := strings.Fields("ba be bi bo du da de fi fo ga gre hu ka ke kli la le lo ma me mi na ne no pa per po ra re ri sa se stu ta te ti to va ve zo")
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, n)
	for i := range words {
		var b strings.Builder
		for range 2 + rng.IntN(3) {
			b.WriteString(syllables[rng.IntN(len(syllables))])
		}
		words[i] = b.String()
	}
	return words
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/p/"))
	if err != nil || i < 0 || i >= s.pages {
		http.NotFound(w, r)
		return
	}
	buf := s.bodies.Get().(*[]byte)
	*buf = s.appendPage((*buf)[:0], i)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(*buf)))
	_, _ = w.Write(*buf) // a client that went away has its own error
	s.bodies.Put(buf)
}

// appendPage writes page i: a title, and paragraphs with links among them.
func (s *site) appendPage(b []byte, i int) []byte {
	rng := rand.New(rand.NewPCG(uint64(i), 7))
	b = fmt.Appendf(b, "<!doctype html>\n<html lang=en><head><title>Page %d: %s %s</title></head>\n<body>\n", i, s.word(rng), s.word(rng))
	part := s.bytes / (s.links + 1)
	for k := range s.links {
		b = append(b, "<p>"...)
		for end := len(b) + part - 50; len(b) < end; {
			b = append(append(b, s.word(rng)...), ' ')
		}
		b = fmt.Appendf(b, "<a href=\"/p/%d\">%s %s</a>.</p>\n", s.target(rng, i, k), s.word(rng), s.word(rng))
	}
	return append(b, "</body></html>\n"...)
}

// word: some are frequent and most are rare, as in texts.
func (s *site) word(rng *rand.Rand) string {
	x := rng.Float64()
	return s.words[int(x*x*x*float64(len(s.words)))]
}

// target is where the link k of page i leads.
func (s *site) target(rng *rand.Rand, i, k int) int {
	if child := s.tree*i + k + 1; k < s.tree && child < s.pages {
		return child
	}
	return rng.IntN(s.pages)
}

// serve runs the site on a port of 127.0.0.1 while fn runs, which is given the URL
// of page 0.
func (s *site) serve(fn func(seed string) error) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen on loopback for the site to crawl: %w", err)
	}
	server := &http.Server{Handler: s}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	err = fn("http://" + ln.Addr().String() + "/p/0")
	err = errors.Join(err, server.Shutdown(context.Background()))
	if s := <-served; !errors.Is(s, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serve the site to crawl: %w", s))
	}
	return err
}
