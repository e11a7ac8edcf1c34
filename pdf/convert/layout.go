package convert

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// block is a paragraph or a heading.
type block struct {
	text  []byte // not a string, which each further line would copy
	links []link
	level int // 1 to 6 for headings, else 0
	page  int // from 0
}

// typography is what is usual in a document.
type typography struct {
	height float64 // of the font that most of the text has
	sized  bool    // headings are recognised by their size, because no bookmarks name them
}

// blocks puts the lines of a document into paragraphs and headings.
func (d *document) blocks() []block {
	t := typography{height: usualHeight(d.pages), sized: true}
	for i, lines := range d.pages {
		for j := range lines {
			t.sized = t.sized && bookmarkLevel(&lines[j], d.bookmarks[i]) == 0
		}
	}
	var list []block
	for i, lines := range d.pages {
		next := pageBlocks(i, lines, d.bookmarks[i], t)
		if i > 0 && crosses(list, next, d.pages[i-1]) {
			list[len(list)-1].append(&line{text: string(next[0].text), links: next[0].links}, d.pages[i-1][len(d.pages[i-1])-1].hyphen)
			next = next[1:]
		}
		list = append(list, next...)
	}
	return list
}

// crosses reports whether a paragraph continues on the next page.
func crosses(list, next []block, before []line) bool {
	if len(before) == 0 || len(next) == 0 || list[len(list)-1].level > 0 || next[0].level > 0 {
		return false
	}
	last := &before[len(before)-1]
	return last.hyphen || continuesSentence(last, &line{text: string(next[0].text)})
}

// pageBlocks puts the lines of a page into blocks.
func pageBlocks(page int, lines []line, bookmarks []bookmark, t typography) []block {
	var list []block
	advance, width := usualAdvance(lines), usualRight(lines)
	for i := range lines {
		l := &lines[i]
		level := bookmarkLevel(l, bookmarks)
		if t.sized {
			level = t.levelOf(l)
		}
		if i > 0 && level == list[len(list)-1].level && continues(&lines[i-1], l, level, advance) && (level > 0 || !endsShort(&lines[i-1], l, width)) {
			list[len(list)-1].append(l, lines[i-1].hyphen)
			continue
		}
		list = append(list, block{text: []byte(l.text), links: slices.Clone(l.links), level: level, page: page})
	}
	return list
}

// append appends a line. A link that continues in it stays one link.
func (b *block) append(l *line, hyphen bool) {
	end := len(b.text)
	if !hyphen && !dividesAnywhere(b.text, l.text) {
		b.text = append(b.text, ' ')
	}
	at := len(b.text)
	b.text = append(b.text, l.text...)
	for i, k := range l.links {
		k.from, k.to = k.from+at, k.to+at
		if n := len(b.links) - 1; i == 0 && n >= 0 && k.from == at && b.links[n].to == end && b.links[n].target == k.target {
			b.links[n].to = k.to
			continue
		}
		b.links = append(b.links, k)
	}
}

// dividesAnywhere reports whether two lines are of a script without spaces in which a line may end
// within a word: Chinese or Japanese.
func dividesAnywhere(before []byte, after string) bool {
	last, _ := utf8.DecodeLastRune(before)
	first, _ := utf8.DecodeRuneInString(after)
	return isUnspaced(last) && isUnspaced(first)
}

// isUnspaced reports whether a character is Chinese or Japanese, or punctuation of these.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー' || r > 0x3000 && r < 0xfff0 && unicode.IsPunct(r)
}

// continues reports whether a line belongs to the block of the line before it.
func continues(before, l *line, level int, advance float64) bool {
	if before.hyphen {
		return true
	}
	down := before.bottom - l.bottom
	switch {
	case math.Abs(before.height-l.height) > 0.15*before.height:
		return false // another font
	case level > 0:
		return down > 0 && down < 2*l.height
	case down < -l.height:
		return continuesSentence(before, l) // in the next column
	case down > 1.35*advance && down > 1.35*l.height:
		return false
	case startsItem(l.text):
		return false
	case l.left > before.left+0.8*l.height && down > 0.5*l.height:
		return continuesSentence(before, l) // it is indented
	}
	return true
}

// endsShort reports whether the line before ends a paragraph, because it had room for more.
func endsShort(before, l *line, right float64) bool {
	room := (right - before.right) / max(right-before.left, 1)
	return !before.hyphen && !continuesSentence(before, l) && (room > 0.35 || room > 0.12 && endsSentence(before.text))
}

// continuesSentence reports whether a sentence does not end with a line.
func continuesSentence(before, l *line) bool {
	first, _ := utf8.DecodeRuneInString(l.text)
	return unicode.IsLower(first) && !endsSentence(before.text)
}

func endsSentence(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(".!?:", last)
}

// startsItem reports whether a line begins with the sign of an item in a list.
func startsItem(s string) bool {
	sign, rest, found := strings.Cut(s, " ")
	return found && rest != "" && slices.Contains([]string{"•", "◦", "▪", "‣", "·", "∙", "–", "—", "■", "●", "○"}, sign)
}

// usualAdvance returns the usual distance between lines of a page that follow each other.
func usualAdvance(lines []line) float64 {
	var list []float64
	for i := 1; i < len(lines); i++ {
		if d := lines[i-1].bottom - lines[i].bottom; d > 0 && d < 4*lines[i].height {
			list = append(list, d)
		}
	}
	return median(list)
}

// usualRight returns where most of the full lines of a page end.
func usualRight(lines []line) float64 {
	list := make([]float64, len(lines))
	for i, l := range lines {
		list[i] = l.right
	}
	slices.Sort(list)
	if len(list) == 0 {
		return 0
	}
	return list[len(list)*9/10]
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[(len(list)-1)/2]
}

// usualHeight returns the height that most characters of a document have.
func usualHeight(pages [][]line) float64 {
	chars := make(map[int]int) // by the height in tenths
	for _, lines := range pages {
		for _, l := range lines {
			if h := math.Round(10 * l.height); h > 0 && h < 1e6 {
				chars[int(h)] += len(l.text)
			}
		}
	}
	best := 0
	for h, n := range chars {
		if n > chars[best] || n == chars[best] && h < best {
			best = h
		}
	}
	return float64(best) / 10
}

const maxHeadingText = 200 // bytes

// levelOf tells headings by their size.
func (t typography) levelOf(l *line) int {
	if t.height == 0 || len(l.text) > maxHeadingText || !strings.ContainsFunc(l.text, unicode.IsLetter) {
		return 0
	}
	switch ratio := l.height / t.height; {
	case ratio >= 1.6:
		return 1
	case ratio >= 1.35:
		return 2
	case ratio >= 1.15:
		return 3
	}
	return 0
}

// bookmarkLevel returns the level of a line that a bookmark names, 0 for others. The line may
// have a number before the name.
func bookmarkLevel(l *line, bookmarks []bookmark) int {
	const number = 12
	if len(bookmarks) == 0 || len(l.text) > maxHeadingText {
		return 0
	}
	text := letters(l.text)
	for _, b := range bookmarks {
		if before, ok := strings.CutSuffix(text, b.title); ok && (before == "" || len(before) <= number && strings.ContainsFunc(before, unicode.IsDigit)) {
			return min(2+b.depth, 6)
		}
	}
	return 0
}
