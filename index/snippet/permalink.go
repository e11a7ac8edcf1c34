package snippet

import "strings"

// permalink is the sign that programs that make manuals put right after a heading, as a link
// to it: "Installation¶". The page shows it only while the pointer is over it. In a snippet
// it means nothing.
const permalink = "¶"

// withoutPermalinks returns the snippet without these signs. A sign on its own stays, as in
// "see ¶ 12".
func (s Snippet) withoutPermalinks() Snippet {
	var out Snippet
	from := 0
	for at := strings.Index(s.Text, permalink); at >= 0; {
		end := at + len(permalink)
		if at > 0 && s.Text[at-1] != ' ' && (end == len(s.Text) || s.Text[end] == ' ') {
			out.add(s, from, at)
			from = end
		}
		next := strings.Index(s.Text[end:], permalink)
		if next < 0 {
			break
		}
		at = end + next
	}
	if from == 0 {
		return s
	}
	out.add(s, from, len(s.Text))
	return out
}

// add appends a part of another snippet, with its marks. No mark crosses the end of the part.
func (s *Snippet) add(o Snippet, from, to int) {
	for _, m := range o.Marks {
		if m.Start >= from && m.End <= to {
			s.Marks = append(s.Marks, Range{m.Start - from + len(s.Text), m.End - from + len(s.Text)})
		}
	}
	s.Text += o.Text[from:to]
}
