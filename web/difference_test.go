package web

import (
	"fmt"
	"strings"
	"testing"
)

func spellFragments(list []fragment) string {
	var b strings.Builder
	for _, f := range list {
		switch {
		case f.Left > 0:
			fmt.Fprintf(&b, "{%d}", f.Left)
		case f.Changed:
			fmt.Fprintf(&b, "[%s]", f.Text)
		default:
			b.WriteString(f.Text)
		}
	}
	return b.String()
}

func TestDifferences(t *testing.T) {
	var words []string
	for i := range 200 {
		words = append(words, fmt.Sprintf("w%d ", i))
	}
	long, first, last := strings.Join(words, ""), strings.Join(words[:nearWords], ""), strings.Join(words[200-nearWords:], "")
	for _, tt := range []struct{ was, is, old, now string }{
		{"", "", "", ""},
		{"a b c", "a b c", "a b c", "a b c"},
		{"a b c", "a x c", "a [b] c", "a [x] c"},
		{"a c", "a b c", "a c", "a [b] c"},
		{"", "new", "", "[new]"},
		{"old", "", "[old]", ""},
		{"灯塔亮了", "灯塔灭了", "灯塔[亮]了", "灯塔[灭]了"},
		{long + "x", long + "y", "{175}" + last + "[x]", "{175}" + last + "[y]"},
		{"x " + long, "y " + long, "[x] " + first + "{175}", "[y] " + first + "{175}"},
		{long, long, "{200}", "{200}"},
		{"x " + long + "x", "y " + long + "y", "[x] " + first + "{150}" + last + "[x]", "[y] " + first + "{150}" + last + "[y]"},
	} {
		old, now, cut := differences(tt.was, tt.is)
		if o, n := spellFragments(old), spellFragments(now); o != tt.old || n != tt.now || cut {
			t.Errorf("%q and %q:\ngot  %q %q\nwant %q %q", tt.was, tt.is, o, n, tt.old, tt.now)
		}
	}
	if _, _, cut := differences(strings.Repeat("a ", maxCompared+2), "b"); !cut {
		t.Error("a long text is said to be compared to its end")
	}
}

func FuzzWords(f *testing.F) {
	f.Add("a  b 灯 c\n")
	f.Fuzz(func(t *testing.T, s string) {
		if got := strings.Join(wordsOf(s), ""); got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}
