// Package snippet cuts from a text the part that a search result shows, and marks the words
// of the query in it. It reads only the text that it is given.
package snippet

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// Snippet is a part of a document's text around the words of the query. Text is what the
// page says, and is not escaped, either as HTML or for a terminal. [Snippet.Render] takes
// the function that escapes it.
type Snippet struct {
	Text  string
	Marks []Range // the words of the query, ascending and not adjacent
}

// Range is a half-open range of bytes, on character boundaries.
type Range struct{ Start, End int }

// MarshalJSON returns the plain text.
func (s Snippet) MarshalJSON() ([]byte, error) { return json.Marshal(s.Text) }

// Render returns the text with open and close around its marks. It passes each piece of
// text through escape, if that is not nil, but not open and close.
//
//	s.Render("<mark>", "</mark>", html.EscapeString)
//	s.Render("**", "**", nil)
func (s Snippet) Render(open, close string, escape func(string) string) string {
	if escape == nil {
		escape = func(s string) string { return s }
	}
	var b strings.Builder
	pos := 0
	for _, m := range s.Marks {
		b.WriteString(escape(s.Text[pos:m.Start]))
		b.WriteString(open)
		b.WriteString(escape(s.Text[m.Start:m.End]))
		b.WriteString(close)
		pos = m.End
	}
	b.WriteString(escape(s.Text[pos:]))
	return b.String()
}

// snippetBytes is about how long a snippet is. Without its ellipses, it is never longer.
const snippetBytes = 240

// match is a token of the text that is also in the query.
type match struct{ start, end, term int }

// Source is the text from which a snippet is cut, with what is known about it.
type Source struct {
	Title string
	Text  string       // the head of a text
	More  bool         // the text continues after it
	Main  []page.Range // the main content of the text, as in page.Outline
	// Repeated reports whether the site repeats a sampled shingle on many pages; nil if
	// nothing is known.
	Repeated func(slot uint16) bool
}

// Make cuts a snippet: the first window with all the terms, or else the window with the most
// terms. It tokenizes at most 32 KiB. (The snippet() of FTS5 took up to seconds on long
// texts.)
//
// The main content comes first, without what lies between its parts. The rest of the text is
// shown only if it alone has terms, and more of them than the title, which is shown anyway:
// a menu that repeats the title says nothing about the page. A passage that the site repeats
// gives way to another one that is nearly as good.
func Make(s Source, m *matcher) Snippet {
	m.begin()
	defer m.end()
	return s.cut(m).withoutPermalinks()
}

func (s *Source) cut(m *matcher) Snippet {
	if !utf8.ValidString(s.Text) { // checking is faster than replacing
		s.Text, s.Main = strings.ToValidUTF8(s.Text, "\uFFFD"), nil // it has other offsets then
	}
	text, parts := analysis.NormalizeRanges(s.Text, s.Main)
	main := text
	if len(parts) > 0 { // none if the main content comes after the head
		main = join(text, parts)
	}
	if cut, distinct := s.matching(main, m); distinct > 0 {
		return cut
	}
	if s.Main != nil {
		if cut, distinct := s.matching(text, m); distinct > m.distinct(s.Title) && !s.isRepeated(&cut) {
			return cut
		}
	}
	return s.beginning(main)
}

// attempts is how many snippets are made, at most, to find one that the site does not repeat.
const attempts = 4

// matching returns a snippet with matches, and the number of different terms in its window.
func (s *Source) matching(text string, m *matcher) (cut Snippet, distinct int) {
	from := 0
	for range attempts {
		matches, best := bestWindow(text[from:], m)
		if len(matches) == 0 || 2*best.distinct < distinct {
			break
		}
		for i := range matches {
			matches[i].start += from
			matches[i].end += from
		}
		c, end := cutWindow(text, s.More, matches, best)
		if !s.isRepeated(&c) {
			return c, best.distinct
		}
		if distinct == 0 {
			cut, distinct = c, best.distinct
		}
		// A match near the end of this snippet may be the first one in the next.
		from = snippetBegin(text, max(end, matches[best.to-1].end), snippetBytes/3)
		from = max(from, matches[best.to-1].end)
	}
	return cut, distinct
}

// beginning returns a snippet without matches, as near to the beginning of a text as can be.
func (s *Source) beginning(text string) (first Snippet) {
	begin := 0
	for i := range attempts {
		end := snippetEnd(text, begin, begin+snippetBytes)
		cut := cutSnippet(text, begin, end, s.More, nil)
		if i == 0 {
			first = cut
		}
		if !s.isRepeated(&cut) {
			return cut
		}
		if begin = end; end == len(text) {
			break
		}
	}
	return first
}

// isRepeated reports whether the site repeats at least half of a snippet.
func (s *Source) isRepeated(cut *Snippet) bool {
	if s.Repeated == nil {
		return false
	}
	var t analysis.Tokenizer
	var sample sketch.Sampler
	t.Reset(cut.Text)
	sampled, repeated := 0, 0
	for t.Next() {
		if slot, ok := sample.Add(t.Token.Text); ok {
			sampled++
			if s.Repeated(slot) {
				repeated++
			}
		}
	}
	return sampled > 0 && 2*repeated >= sampled
}

// join returns the parts of a text, with an ellipsis between them.
func join(text string, parts []page.Range) string {
	if len(parts) == 1 {
		return text[parts[0].Start:parts[0].End]
	}
	var b strings.Builder
	for i, r := range parts {
		if i > 0 {
			b.WriteString(" " + ellipsis + " ")
		}
		b.WriteString(text[r.Start:r.End])
	}
	return b.String()
}

// cutWindow cuts the window with the best matches, and returns its end.
func cutWindow(text string, more bool, matches []match, best window) (cut Snippet, end int) {
	first, last := matches[best.from], matches[best.to-1]
	slack := snippetBytes - (last.end - first.start)
	begin := snippetBegin(text, first.start, max(slack/3, 0))
	end = snippetEnd(text, last.end, begin+snippetBytes)
	return cutSnippet(text, begin, end, more, matches), end
}

type window struct {
	from, to int // of matches
	distinct int
}

func (w window) betterThan(o window) bool {
	return w.distinct > o.distinct || w.distinct == o.distinct && w.to-w.from > o.to-o.from
}

// bestWindow returns the matches in the text, up to where it stopped looking, and the
// window to show.
func bestWindow(text string, m *matcher) (matches []match, best window) {
	for i := range m.phrases {
		m.phrases[i].next = 0
	}
	count := make([]int, m.terms)
	var cur window
	stop := len(text)
	t := new(analysis.Tokenizer)
	t.Reset(text)
	add := func(found match) {
		if found.end-found.start > snippetBytes { // a letter may have any number of marks
			return
		}
		matches = append(matches, found)
		cur.to = len(matches)
		if count[found.term]++; count[found.term] == 1 {
			cur.distinct++
		}
		for matches[cur.from].start+snippetBytes < t.Token.End && cur.from < cur.to-1 {
			if count[matches[cur.from].term]--; count[matches[cur.from].term] == 0 {
				cur.distinct--
			}
			cur.from++
		}
		if stop == len(text) && cur.betterThan(best) {
			best = cur
			if best.distinct == m.terms { // the first complete one; continue only for marks to its right
				stop = t.Token.End + snippetBytes
			}
		}
	}
	for {
		if t.SkipOthers(&m.first); !t.Next() || t.Token.Start >= stop {
			break
		}
		found, ok := m.match(text, &t.Token)
		if !ok {
			continue
		}
		add(found)
		if found, ok := m.whole(text, &t.Token); ok {
			add(found)
		}
	}
	return matches, best
}

// cutSnippet makes the snippet of text[begin:end].
func cutSnippet(text string, begin, end int, more bool, matches []match) Snippet {
	for begin < end && text[begin] == ' ' {
		begin++
	}
	for end > begin && text[end-1] == ' ' {
		end--
	}
	var s Snippet
	shift := -begin
	if begin > 0 {
		s.Text = ellipsis
		shift += len(ellipsis)
	}
	for _, m := range matches {
		if m.start < begin || m.end > end {
			continue
		}
		if n := len(s.Marks); n > 0 && isOneWord(text, s.Marks[n-1].End-shift, m.start) {
			s.Marks[n-1].End = max(s.Marks[n-1].End, m.end+shift)
			continue
		}
		s.Marks = append(s.Marks, Range{m.start + shift, m.end + shift})
	}
	s.Text += text[begin:end]
	if end < len(text) || more {
		s.Text += ellipsis
	}
	return s
}

// isOneWord reports whether a match belongs to the same word as the match before it: bigrams
// overlap, and underscores join the words of an identifier.
func isOneWord(text string, end, start int) bool {
	return end >= start || strings.Trim(text[end:start], "_") == ""
}

const ellipsis = "…"
