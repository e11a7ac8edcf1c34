package relevancebench

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"regexp"
	"strings"

	"golang.org/x/text/language"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/page"
)

// pages knows the texts of an index well enough to say which hits repeat each other, and
// which snippets are navigation. It uses nothing that the search itself computes, so that
// the figures judge the search and not the measure.
type pages struct {
	r         *index.Reader
	documents int
	seed      maphash.Seed

	// common counts the documents of a host that have a shingle, by a hash of both. Two
	// shingles that share a counter make a shingle look more common than it is, which is
	// rare at this size.
	common []uint8
	onHost map[string]int // documents of each host
	head   headWords      // of all titles

	known map[page.URL]*pageText // that were hits
}

// pageText is what pages are compared by.
type pageText struct {
	host, path, title, language string
	shingles                    map[uint64]bool
}

const (
	shingleWords = 5       // words in a shingle
	commonSlots  = 1 << 24 // counters
	// A shingle is navigation if this many documents of a host have it, or half of them if
	// the host has fewer than twice as many. Versions of one page are fewer.
	navigationPages = 20
	// nearDuplicate is the share of shingles that two texts have in common at which one
	// repeats the other.
	nearDuplicate = 0.8
)

// readPages reads all documents once.
func readPages(ctx context.Context, r *index.Reader) (*pages, error) {
	p := &pages{r: r, seed: maphash.MakeSeed(), common: make([]uint8, commonSlots), onHost: make(map[string]int), head: make(headWords), known: make(map[page.URL]*pageText)}
	err := r.Documents(ctx, func(d index.Document) error {
		p.documents++
		host := d.URL.Host()
		p.onHost[host]++
		p.head.add(d.Title)
		for s := range p.shingles(d.Text) {
			if slot := &p.common[p.slot(host, s)]; *slot < math.MaxUint8 {
				*slot++
			}
		}
		return nil
	})
	return p, err
}

func (p *pages) slot(host string, shingle uint64) uint64 {
	return (maphash.String(p.seed, host) ^ shingle*0x9E3779B97F4A7C15) % commonSlots
}

// eachShingle calls fn with the hash of each run of words. A shorter text is one run.
func (p *pages) eachShingle(text string, fn func(uint64)) {
	var t analysis.Tokenizer
	t.Reset(analysis.Normalize(text))
	var last [shingleWords]uint64
	n := 0
	for t.Next() {
		copy(last[:], last[1:])
		last[shingleWords-1] = maphash.Bytes(p.seed, t.Token.Text)
		if n++; n >= shingleWords {
			fn(mix(last[:]))
		}
	}
	if n > 0 && n < shingleWords {
		fn(mix(last[:]))
	}
}

func mix(list []uint64) (h uint64) {
	for _, x := range list {
		h = (h ^ x) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

func (p *pages) shingles(text string) map[uint64]bool {
	set := make(map[uint64]bool)
	p.eachShingle(text, func(s uint64) { set[s] = true })
	return set
}

// isNavigation reports whether at least half of a snippet's shingles stand on many pages of
// its host.
func (p *pages) isNavigation(h shown) bool {
	host := h.url.Host()
	most := min(navigationPages, max(p.onHost[host]/2, 2))
	all, common := 0, 0
	p.eachShingle(strings.Trim(h.snippet, "…"), func(s uint64) {
		all++
		if int(p.common[p.slot(host, s)]) >= most {
			common++
		}
	})
	return all > 0 && 2*common >= all
}

// repeats counts the hits that repeat a hit above them.
func (p *pages) repeats(ctx context.Context, hits []page.URL) (n int, err error) {
	texts := make([]*pageText, len(hits))
	for i, u := range hits {
		if texts[i], err = p.text(ctx, u); err != nil {
			return 0, err
		}
		for _, above := range texts[:i] {
			if above.same(texts[i]) {
				n++
				break
			}
		}
	}
	return n, nil
}

func (p *pages) text(ctx context.Context, u page.URL) (*pageText, error) {
	if t := p.known[u]; t != nil {
		return t, nil
	}
	d, found, err := p.r.Document(ctx, string(u))
	if err != nil || !found {
		return nil, fmt.Errorf("read %s, which was found: found %v: %w", u, found, err)
	}
	t := &pageText{host: u.Host(), path: barePath(string(u)), title: bare(d.Title), language: d.Language, shingles: p.shingles(d.Text)}
	p.known[u] = t
	return t, nil
}

// same reports whether two pages say the same: their texts are nearly equal, or they are
// versions or translations of one page, by path and title.
func (t *pageText) same(o *pageText) bool {
	if t.host == o.host && t.path == o.path && (t.title == o.title || t.language != o.language) {
		return true
	}
	if len(t.shingles) == 0 || len(o.shingles) == 0 {
		return false
	}
	both := 0
	for s := range t.shingles {
		if o.shingles[s] {
			both++
		}
	}
	return float64(both) >= nearDuplicate*float64(len(t.shingles)+len(o.shingles)-both)
}

var (
	versions = regexp.MustCompile(`(?i)\bv?\d+([._]\d+)+([a-z]+\d*)?\b|\bv\d+\b`)
	segments = regexp.MustCompile(`(?i)^(v?\d+([._-]\d+)*([a-z]+\d*)?|latest|stable|current|master|main|dev|devel|nightly|snapshot)$`)
)

// bare is a title without versions.
func bare(title string) string {
	return strings.Join(strings.Fields(versions.ReplaceAllString(title, " ")), " ")
}

// barePath is the path of a URL without versions and languages.
func barePath(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	list := strings.Split(rest, "/")
	kept := list[1:1]
	for _, s := range list[1:] {
		if segments.MatchString(s) || isLanguage(s) {
			continue
		}
		if dot := strings.LastIndexByte(s, '.'); dot >= 0 && isLanguage(s[dot+1:]) {
			s = s[:dot] // index.html.fr
		}
		kept = append(kept, versions.ReplaceAllString(s, ""))
	}
	return strings.Join(kept, "/")
}

// isLanguage reports whether a part of a path is a language of two letters, with or without
// a region of two letters.
func isLanguage(s string) bool {
	base, region, _ := strings.Cut(strings.ReplaceAll(s, "_", "-"), "-")
	if len(base) != 2 || len(region) != 0 && len(region) != 2 {
		return false
	}
	_, err := language.ParseBase(base)
	return err == nil
}
