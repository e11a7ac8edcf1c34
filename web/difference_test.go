package web

import (
	"fmt"
	"runtime"
	"slices"
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

// What a comparison shows is small, and so is the memory that it takes, whatever the texts say.
func TestDifferencesAreBounded(t *testing.T) {
	const size = 2 << 20
	words, word := strings.Repeat("a ", size/2), strings.Repeat("x", size)
	for name, texts := range map[string][2]string{
		"appended":     {words, words + "b"},
		"prepended":    {words, "b " + words},
		"equal":        {words, words},
		"other words":  {words, strings.Repeat("b ", size/2)},
		"one word":     {word, word + "y"},
		"equal word":   {word + " a", word + " b"},
		"word at end":  {"a " + word, "b " + word},
		"gone":         {word, ""},
		"without ends": {strings.Repeat("灯", size/3), strings.Repeat("灯", size/3) + "塔"},
	} {
		before := memory()
		old, now, _ := differences(texts[0], texts[1])
		if took := memory() - before; took > 4<<20 {
			t.Errorf("%s: it took %d bytes", name, took)
		}
		for _, list := range [][]fragment{old, now} {
			if shown := len(spellFragments(list)); shown > 256<<10 {
				t.Errorf("%s: it shows %d bytes", name, shown)
			}
		}
	}
}

// memory returns how many bytes were allocated so far.
func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func FuzzWords(f *testing.F) {
	f.Add("a  b 灯 c\n")
	f.Add("  \xe4\xb8 a\xff 灯塔 ")
	f.Fuzz(func(t *testing.T, s string) {
		words, _ := wordsOf(s)
		if got := strings.Join(words, ""); got != s {
			t.Errorf("%q became %q", s, got)
		}
		for _, want := range slices.Backward(words) {
			n := lastWord(s)
			if got := s[len(s)-n:]; got != want {
				t.Fatalf("the last word is %q, want %q", got, want)
			}
			s = s[:len(s)-n]
		}
	})
}
