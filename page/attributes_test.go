package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestTrimTags: of a tag with a million attributes, only the first ones and the last ones count, also where a comment or a
// script hides what seems to be around it.
func TestTrimTags(t *testing.T) {
	var many strings.Builder
	for i := range 120_000 {
		fmt.Fprintf(&many, " x%08d", i)
	}
	const first, last = firstAttributes, lastAttributes
	for name, c := range map[string]struct {
		before, after string
		attributes    int    // of the longest tag
		end           string // the last tag
	}{
		"a tag":                        {"<p", "><i>", first + last, "i"},
		"cut off":                      {"<p", "", 0, ""},
		"an end tag":                   {"</p", "><i>", 0, "i"},
		"in a comment":                 {"<!--<p a", "--><i>", 0, "i"},
		"in a script":                  {"<script>a<b c", "</script><i>", 0, "i"},
		"in a value":                   {"<p a='<p", "'><i>", 1, "i"},
		"in a value of a comment":      {"<!--<p a='--><p", "'><i>", first + last, "i"},
		"in a value that does not end": {"<!--<p a='--><p", "><i>", first + last, "i"},
		"in a name":                    {"<p='--><p", "'><i>", first + last, "i"},
		"after other text":             {"a < b<p", "><i>", first + last, "i"},
		"in values of values":          {"<i>" + strings.Repeat("<p a='", 99), "'><i>", 0, "i"},
	} {
		body := []byte(c.before + many.String() + c.after)
		original := bytes.Clone(body)
		got := trimTags(body)
		if !bytes.Equal(body, original) {
			t.Fatalf("%s: the page itself is changed", name)
		}
		if attributes, end := longestTag(got); attributes != c.attributes || end != c.end {
			t.Errorf("%s: %d attributes, want %d; the last tag is %q, want %q", name, attributes, c.attributes, end, c.end)
		}
	}
}

func TestHasManyAttributes(t *testing.T) {
	for body, attributes := range map[string]int{
		"<p a b><p c=d e = '<i f g>' h></p i j>": 7, // with those in a value
		"a < b c<i d=e><i":                       1,
		"":                                       0,
	} {
		if hasManyAttributes([]byte(body), attributes) || !hasManyAttributes([]byte(body), attributes-1) {
			t.Errorf("%q has not %d attributes", body, attributes)
		}
	}
	if !hasManyAttributes([]byte(strings.Repeat("<p a='", 99)), 1000) {
		t.Error("tags in values have few attributes")
	}
	// A page of them is read without x/net/html.
	for attributes, long := range map[string]bool{" a b c d e f g h i j k l": true, " a b c d e f g h i=jklm": false} {
		if got := takesLong([]byte(strings.Repeat("<p"+attributes+">", mostTags/4))); got != long {
			t.Errorf("%s: %t", attributes, got)
		}
	}
}

// longestTag returns the largest number of attributes of a tag, and the name of the last start tag.
func longestTag(body []byte) (attributes int, end string) {
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return attributes, end
		case html.StartTagToken:
			t := z.Token()
			attributes, end = max(attributes, len(t.Attr)), t.Data
		}
	}
}
