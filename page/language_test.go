package page

import (
	"strings"
	"testing"
)

func TestNormaliseLanguage(t *testing.T) {
	for _, c := range []struct{ declared, want string }{
		{"en", "en"}, {" EN-us ", "en-us"}, {"zh_Hans_CN", "zh-hans-cn"}, {"x-klingon", ""}, {"i-navajo", ""},
		{"", ""}, {"-", ""}, {"en-", ""}, {"e", ""}, {"english", "english"}, {"norwegian", ""}, {"de-1996-x-a", "de-1996-x-a"}, {"{{lang}}", ""}, {"en us", ""}, {"日本", ""},
	} {
		if got := normaliseLanguage(c.declared); got != c.want {
			t.Errorf("%q: %q, want %q", c.declared, got, c.want)
		}
	}
}

// TestDetectLanguageIsDeterministic guards against the library's maps: the same
// text must always give the same language, or two indexes of it would differ.
func TestDetectLanguageIsDeterministic(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("to be or not to be, that is the question; ", 5),
		strings.Repeat("a e i o u 1 2 3 ", 20),
		strings.Repeat("det er en god dag i dag, og vi er glade for det ", 4),
		strings.Repeat("да не но то 日本語 ", 20),
		strings.Repeat("la le les un une de des et est ", 8) + strings.Repeat("der die das und ist nicht ein ", 8),
	} {
		want := detectLanguage(text)
		for range 100 {
			if got := detectLanguage(text); got != want {
				t.Fatalf("%.30q: %q and %q", text, want, got)
			}
		}
	}
}
