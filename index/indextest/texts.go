// Package indextest holds the odd texts on which the tests of several index packages agree.
package indextest

import "strings"

// OddTexts are texts and queries that have been, or might be, trouble: they begin every fuzz test.
var OddTexts = []string{
	"", " ", "\x00", "\xff\xfe", "a\u0301", "東京タワー", "ｱｲｳ", "é", "ß", "İstanbul", "don’t", "x'S", "H₂O ½ Ⅷ", "🏳️‍🌈🇩🇪🇫🇷", "นี่คือ", "한국어 한국어",
	"ﷺ", "ﬁle", "soft\u00adhyphen", "C++ C#", "_a_b_", strings.Repeat("ab", 100), strings.Repeat("漢", 300), strings.Repeat("e\u0301", 100), "か\u3099", "ǅ", "ſ",
	`"`, `""`, `-"a`, "site:", "site:[::1]:80", "site:bücher.de", "lang:x lang:y", "NEAR(a b, 2)", "a AND (b OR", "{title}:x", "intitle:x", `intitle:"x y" z`, `inurl:"`, `-intitle:"`, "intitle:東", "before:2024 after:1969-01-01", "after:1970-01-01", "before:9999", "a OR b", "OR", "(", ")", "a OR (", "(a OR", "((((((((((a OR", "-(a b)", "(a -b) OR c", "x OR (f(", `a OR "`, "intitle:(a OR", "filetype:txt", "site:a.b OR page", "inurl:a inurl:b -inurl:c", "^a*", "\uE000site", "-\uE073example", "a\uE000b",
}

// Visible writes the private-use characters of tags as <c>.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == 0xE000:
			b.WriteString("<>")
		case r > 0xE000 && r < 0xE100:
			b.WriteString("<" + string(r-0xE000) + ">")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
