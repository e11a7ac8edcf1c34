package cli

import (
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
)

// TestExplanationText: an explanation names the other words that were found, and the hit that one repeats.
// What others wrote is shown without control characters.
func TestExplanationText(t *testing.T) {
	e := &search.Explanation{
		Tier: "all words", Text: 2, TitleFactor: 3, AnchorFactor: 1, RankFactor: 1, LanguageFactor: 1, SiteFactor: 1, SectionFactor: 1, VersionFactor: 1, ContentFactor: 1, TypedFactor: 1, PassageFactor: 1,
		Repeats: "https://a.example/\x1blamp", OtherWords: []search.OtherWord{{Word: "delete", As: "removing"}, {Word: "regex", As: "regular expression"}},
	}
	var b strings.Builder
	explanationText(&b, e, 6)
	got := b.String()
	for _, want := range []string{
		"    score 6.000 = text 2.000 × title 3.00 × anchors 1.00 × rank 1.00 · all words\n",
		"because it adds little to what https://a.example/", "lamp says\n",
		"      removing for delete\n      regular expression for regex\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("control characters in %q", got)
	}
}

// TestScoreNumber: no score but zero is shown as zero.
func TestScoreNumber(t *testing.T) {
	for score, want := range map[float64]string{0: "0.000", 12.3456: "12.346", 0.0005: "0.001", 0.00000512: "5.12e-06"} {
		if got := scoreNumber(score); got != want {
			t.Errorf("%v is shown as %s, want %s", score, got, want)
		}
	}
}

// TestAlsoText: the version and the language of one page are not two pages.
func TestAlsoText(t *testing.T) {
	got := alsoText([]search.Also{{URL: "https://a.example/2.4", Label: "2.4"}, {URL: "https://a.example/2.4/de", Label: "2.4, de"}, {URL: "https://a.example/fr", Label: "fr"}, {URL: "https://b.example/", Similar: true}})
	if want := "also in 2.4, 2.4 de, fr; nearly the same: https://b.example/"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	got = alsoText([]search.Also{{URL: "https://a.example/2.2", Label: "2.2"}, {URL: "https://a.example/en/a", Label: "en"}, {URL: "https://a.example/en/b", Label: "en"}})
	if want := "also in 2.2, en; 1 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTitleText: a title fits on a terminal.
func TestTitleText(t *testing.T) {
	for title, want := range map[string]string{
		"":                             "(no title)",
		"Lamp\x1b[31m":                 "Lamp [31m",
		strings.Repeat("ü", 160):       strings.Repeat("ü", 160),
		strings.Repeat("ü", 161):       strings.Repeat("ü", 160) + "…",
		strings.Repeat("a ", 80) + "b": strings.TrimRight(strings.Repeat("a ", 80), " ") + "…",
	} {
		if got := titleText(title); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
