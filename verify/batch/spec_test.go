package batch

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/page"
)

// TestSpec runs the small webs of testdata. Each "web" has one line per fetch:
//
//	URL at=SECONDS WHAT [text=WORD] [canonical=URL] [link=URL,ANCHOR]... [noindex] [nofollow] [status=N]
//
// with WHAT one of page, redirect=URL, gone, failed, error, other, revisit. URLs
// are written without "https://", "http:" in front means that scheme. Pages with the
// same text have the same content; without text= a page has one of its own. Fetches are
// added in several random orders, which must not matter. "ranks" sets ranks for the
// next web.
//
// The answers are worked out by hand from semantics.md, sections 2 to 5.
func TestSpec(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		ranks := map[page.URL]float64{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "ranks":
				clear(ranks)
				for line := range strings.Lines(d.Input) {
					name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
					rank, err := strconv.ParseFloat(value, 64)
					if err != nil {
						d.Fatalf(t, "rank of %s: %v", name, err)
					}
					ranks[long(name)] = rank
				}
				return ""
			case "web":
				out := describeInAnyOrder(t, d, ranks)
				clear(ranks)
				return out
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func describeInAnyOrder(t *testing.T, d *datadriven.TestData, ranks map[page.URL]float64) string {
	var fetches []*page.Fetch
	for line := range strings.Lines(d.Input) {
		fetches = append(fetches, parseFetch(t, d, strings.Fields(line)))
	}
	rank := func(u page.URL) float64 {
		if r, ok := ranks[u]; ok {
			return r
		}
		return rank.Teleport
	}
	first := ""
	const seed = 1
	random := rand.New(rand.NewPCG(seed, 0))
	for order := range 20 {
		b := New()
		for _, f := range fetches {
			b.Add(f)
		}
		out := describe(b.Finish(rank))
		if order == 0 {
			first = out
		} else if out != first {
			d.Fatalf(t, "order %d of seed %d gives\n%s\nnot\n%s", order, seed, out, first)
		}
		random.Shuffle(len(fetches), func(i, j int) { fetches[i], fetches[j] = fetches[j], fetches[i] })
	}
	return first
}

func parseFetch(t *testing.T, d *datadriven.TestData, words []string) *page.Fetch {
	f := &page.Fetch{URL: long(words[0]), Status: http.StatusOK, Header: http.Header{}}
	what := "?"
	head, body, text := "", "", strings.Repeat(words[0]+" ", 64)
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "at":
			seconds, err := strconv.Atoi(value)
			if err != nil {
				d.Fatalf(t, "%v: %v", words, err)
			}
			f.Time = time.Unix(int64(seconds), 0).UTC()
		case "text":
			text = strings.Repeat(value+" ", 64)
		case "status":
			f.Status, _ = strconv.Atoi(value)
		case "canonical":
			head += fmt.Sprintf("<link rel=canonical href=%q>", long(value))
		case "noindex", "nofollow":
			head += fmt.Sprintf("<meta name=robots content=%s>", key)
			f.Header.Add("X-Robots-Tag", key)
		case "link":
			target, anchor, _ := strings.Cut(value, ",")
			// An area's anchor is not part of the page's text.
			body += fmt.Sprintf("<area href=%q alt=%q>", long(target), anchor)
		default:
			what = word
		}
	}
	kind, target, _ := strings.Cut(what, "=")
	switch kind {
	case "page":
		f.Header.Set("Content-Type", "text/html")
		f.Body = []byte(head + "<p>" + text + "<p>" + body)
	case "redirect":
		f.Status = http.StatusMovedPermanently
		f.Header.Set("Location", target)
		if !strings.HasPrefix(target, "mailto:") {
			f.Header.Set("Location", string(long(target)))
		}
	case "gone":
		f.Status = http.StatusGone
	case "failed":
		f.Status = http.StatusInternalServerError
	case "error":
		f.Err = "connection reset"
	case "other":
		f.Header.Set("Content-Type", "image/png")
	case "revisit":
		f.Revisit = true
	default:
		d.Fatalf(t, "%v: what is %q?", words, what)
	}
	return f
}

// long and short add and remove what testdata leaves out of URLs.
func long(s string) page.URL {
	if rest, ok := strings.CutPrefix(s, "http:"); ok {
		return page.MustParseURL("http://" + rest)
	}
	return page.MustParseURL("https://" + s)
}

func short(u page.URL) string {
	if u == "" {
		return "-"
	}
	s := strings.TrimPrefix(string(u), "https://")
	return strings.TrimSuffix(strings.Replace(s, "http://", "http:", 1), "/")
}

// describe writes a line for each URL and one for each cluster.
func describe(r *Repository) string {
	var b strings.Builder
	for u := range r.URLs() {
		fmt.Fprintf(&b, "%s: %s", short(u.URL), u.Document.Outcome)
		if !u.FetchedAt.IsZero() {
			fmt.Fprintf(&b, " at=%d", u.FetchedAt.Unix())
		}
		if u.Lead != "" {
			fmt.Fprintf(&b, " leads to %s", short(u.Lead))
		}
		if u.Terminal != "" {
			fmt.Fprintf(&b, ", terminal %s, shown as %s", short(u.Terminal), short(u.Canonical()))
		}
		b.WriteByte('\n')
	}
	var clusters []*Cluster
	for _, c := range r.clusters {
		clusters = append(clusters, c)
	}
	slices.SortFunc(clusters, func(a, b *Cluster) int { return strings.Compare(string(a.Members[0]), string(b.Members[0])) })
	for _, c := range clusters {
		members := make([]string, len(c.Members))
		for i, m := range c.Members {
			members[i] = short(m)
		}
		fmt.Fprintf(&b, "cluster {%s} shown as %s, rank %.2f\n", strings.Join(members, " "), short(c.Canonical), c.Rank)
		for _, l := range c.Inlinks {
			fmt.Fprintf(&b, "  %s -> %s %q\n", short(l.Source), short(l.Target), l.Anchor)
		}
	}
	return b.String()
}
