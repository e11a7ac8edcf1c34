package snippet

import (
	"strings"
	"testing"
)

func TestWithoutPermalinks(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"About [this]¶ This is [about] it.", "About [this] This is [about] it."},
		{"One¶ two¶ [three]¶", "One two [three]"},
		{"¶ [One]¶ ¶", "¶ [One] ¶"},
		{"see ¶ 12, and [§] 3", "see ¶ 12, and [§] 3"},
		{"a¶b [c]¶d", "a¶b [c]¶d"}, // not behind a heading
		{"[京都]¶ …", "[京都] …"},
	} {
		var s Snippet
		for rest := tt.in; rest != ""; {
			open, marked, found := strings.Cut(rest, "[")
			s.Text += open
			if !found {
				break
			}
			word, after, _ := strings.Cut(marked, "]")
			s.Marks = append(s.Marks, Range{len(s.Text), len(s.Text) + len(word)})
			s.Text += word
			rest = after
		}
		if got := s.withoutPermalinks().Render("[", "]", nil); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}
