package search

import (
	"testing"

	"github.com/webindexer/indexer/index/query"
)

func TestNumbering(t *testing.T) {
	for text, want := range map[string]string{
		"4.2. Tides":                "4.2. ",
		"4.2 Tides":                 "4.2 ",
		"4. Tides":                  "4. ",
		"1) Tides":                  "1) ",
		".22 rifles":                "",
		"B.1 Tides":                 "B.1 ",
		"IV. Tides":                 "IV. ",
		"Chapter 4 Tides":           "Chapter 4 ",
		"Kapitel 12. Gezeiten":      "Kapitel 12. ",
		"Appendix B: Tides":         "Appendix B: ",
		"Part II. The sea":          "Part II. ",
		"Handbook: 4.2.1 Tides":     "4.2.1 ",
		"Handbook: Sea: 4. Tides":   "4. ",
		"4 tides":                   "",
		"I saw the tides":           "",
		"Chapter of tides":          "",
		"Chapter 4":                 "",
		"4.2.":                      "",
		"C: tides":                  "",
		"Tides 4.2 and more":        "",
		"2024-05 Tides":             "",
		"1.2.3.4.5.6.7.8 Tides":     "",
		"Handbook:4.2 Tides":        "",
		"":                          "",
		"   ":                       "",
		"Version 4.2 of the tables": "",
	} {
		start, end := numbering(text)
		if got := text[start:end]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestManualSection(t *testing.T) {
	for text, want := range map[string]bool{"tide(7)": true, "tide(3pm)": true, "tide (7)": false, "tide(0)": false, "tide(seven)": false, "(7)": false, "tide[7]": false, "tide(12345)": false} {
		found := false
		for i := range text {
			for j := i + 1; j < len(text); j++ {
				found = found || text[i] != '(' && isManualSection(text, i, j)
			}
		}
		if found != want {
			t.Errorf("%q: %v", text, found)
		}
	}
}

// FuzzNumbering: the number is a part of the text, and something follows it. The agreement of a name with a
// query is a number, whatever follows.
func FuzzNumbering(f *testing.F) {
	f.Add("Handbook: 4.2 Tides")
	f.Add("Appendix B: Tides")
	f.Add("4.2. ⚓")
	f.Fuzz(func(t *testing.T, text string) {
		start, end := numbering(text)
		if start < 0 || end < start || end > len(text) || end > 0 && (start == end || end == len(text)) {
			t.Fatalf("%q: %d to %d", text, start, end)
		}
		n := MakeName(text, "en")
		if got := n.Overlap([]query.Word{{Typed: "tides"}}); !(got >= 0 && got <= 1+1e-9) {
			t.Fatalf("%q: %v", text, got)
		}
	})
}
