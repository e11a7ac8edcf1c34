package completion

import (
	"cmp"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a table.
const (
	// MaxDocuments is the maximum number of documents in a table.
	MaxDocuments = 100_000
	maxTexts     = 150_000
	maxLength    = 80 // characters of a text; a longer suggestion is not read
	maxAnchors   = 3  // texts of links that are used for each document
	// A link text that leads to namesNone or more pages of a host names none of them. A shard
	// counts only its own pages, so it suggests some texts that an undivided index would leave out.
	namesNone = 4
)

// Document is what a table takes from a document.
type Document struct {
	Host, Language string // the host without www. and port
	Title          string
	Rank           float64
	Anchors        []Anchor // best first
}

// Anchor is a text of links to a document.
type Anchor struct {
	Text  string
	Links int     // with this text
	Share float64 // of the links to the document, 0 to 1
}

// Builder collects the texts of documents. Use [NewBuilder].
type Builder struct {
	bare      func(string) string
	hosts     map[string]*host
	hostNames []string
	candidates
	key key
}

// candidates are texts that a table may have.
type candidates struct {
	titles, anchors []candidate
}

type candidate struct {
	text     string
	host     *host
	language string
	weight   float64
	key      string // of an anchor
}

// host is what is known about a host so far.
type host struct {
	number int
	titles int
	parts  map[uint64]int // titles that have each part
	leads  map[string]int // documents to which each text of a link leads, by key
}

// NewBuilder begins a table. The function bare removes the version from a text: of texts
// that are equal without it, one is suggested.
func NewBuilder(bare func(string) string) *Builder {
	return &Builder{bare: bare, hosts: make(map[string]*host)}
}

// Add takes the texts of a document.
func (b *Builder) Add(d *Document) {
	h := b.hosts[d.Host]
	if h == nil {
		h = &host{number: len(b.hostNames), parts: make(map[uint64]int), leads: make(map[string]int)}
		b.hosts[d.Host] = h
		b.hostNames = append(b.hostNames, d.Host)
	}
	if title := strings.Join(strings.Fields(bounded(d.Title)), " "); title != "" {
		h.titles++
		if parts := split(title); len(parts) > 1 {
			for _, p := range parts {
				h.parts[b.group(title[p.from:p.to])]++
			}
		}
		b.titles = append(b.titles, candidate{text: title, host: h, language: d.Language, weight: d.Rank})
	}
	for _, a := range d.Anchors[:min(len(d.Anchors), maxAnchors)] {
		text := once(strings.Join(strings.Fields(bounded(a.Text)), " "))
		if a.Links < 2 || !readable(text) {
			continue
		}
		b.key.fold(text)
		c := candidate{text: text, host: h, language: d.Language, weight: d.Rank * a.Share, key: string(b.key.text)}
		h.leads[c.key]++
		b.anchors = append(b.anchors, c)
	}
}

// once returns a text without its repetition. The text of a link is "Kafka Kafka" if a logo and a
// word beside it say the same.
func once(text string) string {
	first, second := text[:len(text)/2], text[(len(text)+1)/2:]
	if first == second && text == first+" "+second {
		return first
	}
	return text
}

// bounded cuts a text that is too long for a suggestion, but leaves it too long.
func bounded(text string) string {
	if most := 8 * maxLength; len(text) > most {
		return strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// group returns the same number for texts that differ only in versions and spelling. It
// depends on the text alone, so that shards agree on it.
func (b *Builder) group(text string) uint64 {
	b.key.fold(b.bare(text))
	if len(b.key.text) == 0 {
		b.key.fold(text)
	}
	h := fnv.New64a()
	_, _ = h.Write(b.key.text) // it never fails
	return h.Sum64()
}

// separator separates the name of a page from that of its site.
var separator = regexp.MustCompile(`\s+[-–—|·•:»›/]+\s+|\s*[|｜]\s*`)

type part struct{ from, to int }

// split returns the parts of a title. Parentheses at its end are a part, as in "List
// (Java Platform 25)".
func split(title string) (parts []part) {
	from := 0
	for _, s := range separator.FindAllStringIndex(title, -1) {
		if s[0] > from {
			parts = append(parts, part{from, s[0]})
		}
		from = s[1]
	}
	if at := strings.LastIndex(title, " ("); at > from && strings.HasSuffix(title, ")") {
		parts = append(parts, part{from, at})
		from = at + 1
	}
	if from < len(title) {
		parts = append(parts, part{from, len(title)})
	}
	return parts
}

// own returns a title without the parts at its ends that the site repeats. Something is
// always left of it.
func (b *Builder) own(c *candidate) string {
	parts := split(c.text)
	repeated := func(p part) bool {
		n := c.host.parts[b.group(c.text[p.from:p.to])]
		return n >= 10 || n >= 3 && 20*n >= c.host.titles
	}
	for len(parts) > 1 && repeated(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	for len(parts) > 1 && repeated(parts[0]) {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return c.text
	}
	return c.text[parts[0].from:parts[len(parts)-1].to]
}

// operators are what the query syntax does not read as words.
var operators = regexp.MustCompile(`(?i)(^|[\s(])(-[^\s-]|(site|lang|filetype|ext|after|before|intitle|inurl):)`)

// readable reports whether a text may be suggested: it is short, has something to read, and
// a search for it finds its words.
func readable(text string) bool {
	letters := 0
	for _, r := range text {
		if r >= 0x2E80 {
			letters++ // one character may be a word
		}
		if r >= utf8.RuneSelf || r|0x20 >= 'a' && r|0x20 <= 'z' {
			letters++
		}
	}
	return letters >= 2 && len(text) > 2 && utf8.RuneCountInString(text) <= maxLength && !strings.Contains(text, "://") &&
		!strings.ContainsAny(text, "\uFFFD\x00") && !operators.MatchString(text)
}

// quotes in a text would make it a phrase.
var quotes = strings.NewReplacer(`"`, "", "“", "", "”", "", "„", "", "«", "", "»", "", "＂", "")

// Table makes the table. The builder must not be used afterwards.
func (b *Builder) Table() *Table {
	type place struct {
		host          int
		key, language string // a filter finds the text in each of its languages
	}
	known := make(map[place]int) // in list
	list := make([]stored, 0, len(b.titles))
	add := func(c *candidate, text string) {
		if text = strings.Join(strings.Fields(quotes.Replace(text)), " "); !readable(text) {
			return
		}
		b.key.fold(text)
		at := place{c.host.number, string(b.key.text), c.language}
		s := stored{text: text, key: at.key, host: at.host, language: c.language, weight: c.weight}
		if i, ok := known[at]; !ok {
			known[at] = len(list)
			list = append(list, s)
		} else if compare(&s, &list[i]) < 0 {
			list[i] = s
		}
	}
	for i := range b.titles {
		add(&b.titles[i], b.own(&b.titles[i]))
	}
	for i := range b.anchors {
		if c := &b.anchors[i]; c.host.leads[c.key] < namesNone {
			add(c, c.text)
		}
	}
	slices.SortFunc(list, func(x, y stored) int {
		return cmp.Or(compare(&x, &y), cmp.Compare(b.hostNames[x.host], b.hostNames[y.host]), cmp.Compare(x.language, y.language))
	})
	list = list[:min(len(list), maxTexts)]
	for i := range list {
		list[i].group = b.group(list[i].text)
	}
	return newTable(list, b.hostNames)
}

// stored is a text in a table.
type stored struct {
	text, key, language string
	host                int
	from                int // where the key begins in the keys of the table
	weight              float64
	group               uint64
}

// compare orders texts, best first.
func compare(x, y *stored) int {
	return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.text, y.text))
}
