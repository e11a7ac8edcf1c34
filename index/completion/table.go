package completion

import (
	"cmp"
	"net"
	"slices"
	"sort"
	"strings"

	"github.com/webindexer/indexer/index/analysis"
)

// Completion is a text that completes what was typed.
type Completion struct {
	Text  string
	Score float64
	Group uint64 // equal for texts that differ only in versions
	Apart bool   // it has the typed words, but in other places: it comes after the others
}

// Table finds texts by the beginning of any of their words. It never changes, so it is safe
// for concurrent use.
//
// It is a suffix array of the keys of the texts. It has the suffixes that begin at a word,
// so all suffixes that begin with the same letters are one range of it.
type Table struct {
	texts  []stored // best first
	hosts  []string
	keys   string   // all keys, each with a line break after it
	starts []uint32 // of the suffixes, in their order
	owners []uint32 // for each suffix, twice the number of its text, plus one if the text does not begin there
}

// maxTyped bounds, in bytes, the prefix for the search in the array, and so how far
// suffixes are compared. The rest of a longer text is compared text by text.
const maxTyped = 64

func newTable(list []stored, hosts []string) *Table {
	t := &Table{texts: list, hosts: hosts}
	var k key
	var keys strings.Builder
	type suffix struct{ start, owner uint32 }
	var suffixes []suffix
	for i := range list {
		k.fold(list[i].text)
		for n, at := range k.starts {
			suffixes = append(suffixes, suffix{uint32(keys.Len() + at), uint32(2*i + min(n, 1))})
		}
		list[i].key, list[i].from = "", keys.Len()
		_, _ = keys.Write(k.text)
		_ = keys.WriteByte('\n')
	}
	t.keys = keys.String()
	slices.SortFunc(suffixes, func(a, b suffix) int {
		return cmp.Or(strings.Compare(t.suffix(a.start), t.suffix(b.start)), cmp.Compare(a.owner, b.owner))
	})
	t.starts, t.owners = make([]uint32, len(suffixes)), make([]uint32, len(suffixes))
	for i, s := range suffixes {
		t.starts[i], t.owners[i] = s.start, s.owner
	}
	return t
}

// suffix returns the beginning of a suffix. It may reach into the next key, which changes
// only the order of equal keys.
func (t *Table) suffix(start uint32) string {
	return t.keys[start:min(int(start)+maxTyped, len(t.keys))]
}

// Len returns the number of texts.
func (t *Table) Len() int { return len(t.texts) }

// Filter limits completions to pages of a host and its subdomains, on any port, and to a
// language, by its tag. Empty fields limit nothing.
type Filter struct{ Site, Language string }

// A text that begins with what was typed counts beginsBetter times as much.
const beginsBetter = 4

// Find returns up to n completions of a text that is being typed, best first. They have what
// was typed at the beginning of one of their words. If these are too few, texts that have each
// word somewhere follow.
func (t *Table) Find(typed string, f Filter, n int) []Completion {
	var k key
	k.prefix(typed)
	prefix := string(k.text)
	if prefix == "" || n <= 0 {
		return nil
	}
	b := best{t: t, filter: t.only(f), most: 8 * n}
	lo, hi := t.find(prefix)
	for i := lo; i < hi; i++ {
		if len(prefix) <= maxTyped || strings.HasPrefix(t.keys[t.starts[i]:], prefix) {
			b.add(t.owners[i]>>1, t.owners[i]&1 == 0)
		}
	}
	list := b.completions(nil, strings.TrimSuffix(prefix, " "), n, false)
	if words := strings.Fields(prefix); len(list) < n && len(words) > 1 {
		b.list = b.list[:0]
		t.inAnyOrder(words, &b)
		list = b.completions(list, strings.TrimSuffix(prefix, " "), n, true)
	}
	return list
}

// find returns the range of the suffixes that begin with a prefix, as far as the prefix
// is compared.
func (t *Table) find(prefix string) (lo, hi int) {
	prefix = prefix[:min(len(prefix), maxTyped)]
	lo = sort.Search(len(t.starts), func(i int) bool { return t.suffix(t.starts[i]) >= prefix })
	return lo, lo + sort.Search(len(t.starts)-lo, func(i int) bool { return !strings.HasPrefix(t.suffix(t.starts[lo+i]), prefix) })
}

// maxTried bounds the texts that are tried for words in any order.
const maxTried = 20_000

// inAnyOrder finds texts that have, for each typed word, a word that begins with it. It
// tries the texts with the rarest of the typed words.
func (t *Table) inAnyOrder(words []string, b *best) {
	from, to := t.find(words[0])
	for _, w := range words[1:] {
		if lo, hi := t.find(w); hi-lo < to-from {
			from, to = lo, hi
		}
	}
	for _, owner := range t.owners[from:min(to, from+maxTried)] {
		if !slices.ContainsFunc(words, func(w string) bool { return !hasWord(t.key(owner>>1), w) }) {
			b.add(owner>>1, false)
		}
	}
}

// key returns the key of a text.
func (t *Table) key(text uint32) string {
	from := t.texts[text].from
	key, _, _ := strings.Cut(t.keys[from:], "\n")
	return key
}

// hasWord reports whether a word of a key begins with w. In scripts without spaces, words
// begin anywhere.
func hasWord(key, w string) bool {
	for at := 0; ; at++ {
		i := strings.Index(key[at:], w)
		if i < 0 {
			return false
		}
		if at += i; at == 0 || key[at-1] == ' ' || w[0] >= 0xE0 { // U+0800 and later
			return true
		}
	}
}

// only returns the filter as a function of a text, or nil if all texts pass.
func (t *Table) only(f Filter) func(*stored) bool {
	if f == (Filter{}) {
		return nil
	}
	hosts := make([]bool, len(t.hosts))
	site := f.Site
	if host, _, err := net.SplitHostPort(site); err == nil {
		site = host
	}
	site = strings.Trim(strings.TrimPrefix(site, "www."), "[]")
	for i, h := range t.hosts {
		h = strings.Trim(h, "[]") // of IPv6
		hosts[i] = site == "" || h == site || strings.HasSuffix(h, "."+site)
	}
	return func(s *stored) bool {
		return hosts[s.host] && (f.Language == "" || s.language == f.Language || analysis.PrimaryLanguage(s.language) == f.Language)
	}
}

// best collects the best texts.
type best struct {
	t      *Table
	filter func(*stored) bool
	most   int
	list   []scored // best first
}

type scored struct {
	score float64
	text  uint32
}

// compare orders the list as Merge does.
func (b *best) compare(x, y scored) int {
	return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(b.t.texts[x.text].text, b.t.texts[y.text].text), cmp.Compare(x.text, y.text))
}

func (b *best) add(text uint32, begins bool) {
	s := scored{b.t.texts[text].weight, text}
	if begins {
		s.score *= beginsBetter
	}
	if len(b.list) == b.most && b.compare(s, b.list[b.most-1]) > 0 || b.filter != nil && !b.filter(&b.t.texts[text]) {
		return
	}
	if i := slices.IndexFunc(b.list, func(o scored) bool { return o.text == text }); i >= 0 {
		if b.list[i].score >= s.score {
			return
		}
		b.list = slices.Delete(b.list, i, i+1)
	}
	at := sort.Search(len(b.list), func(i int) bool { return b.compare(s, b.list[i]) < 0 })
	b.list = slices.Insert(b.list, at, s)
	b.list = b.list[:min(len(b.list), b.most)]
}

// completions appends up to n of the collected texts, one of each group, without the
// typed text itself.
func (b *best) completions(list []Completion, typed string, n int, apart bool) []Completion {
	for _, s := range b.list {
		text := &b.t.texts[s.text]
		known := slices.ContainsFunc(list, func(c Completion) bool { return c.Group == text.group })
		if len(list) < n && !known && b.t.key(s.text) != typed {
			list = append(list, Completion{text.text, s.score, text.group, apart})
		}
	}
	return list
}

// Merge returns the best n of completions from several tables, one of each group.
func Merge(n int, lists ...[]Completion) []Completion {
	var out []Completion
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b Completion) int {
		if a.Apart != b.Apart {
			return map[bool]int{false: -1, true: 1}[a.Apart]
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Text, b.Text))
	})
	for _, c := range all {
		if len(out) < n && !slices.ContainsFunc(out, func(o Completion) bool { return o.Group == c.Group }) {
			out = append(out, c)
		}
	}
	return out
}
