package page

import (
	"fmt"
	"strings"
	"testing"
)

// TestTakesLong: x/net/html takes minutes for a page with attributes in very many <html> or <body> tags, or
// with very many objects, or inside an <annotation-xml> with very many attributes. Such a page is read without it.
func TestTakesLong(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutine, and takes a minute with the race detector")
	}
	repeat := func(tag string, times int) string {
		var b strings.Builder
		for i := range times {
			fmt.Fprintf(&b, tag, i)
		}
		return b.String()
	}
	padding := strings.Repeat("words ", 2<<20)
	labels := strings.Repeat("<label>", 490)
	for name, c := range map[string]struct {
		body string
		long bool
	}{
		"body":                         {repeat("<body x%d=y>", 80_000), true},
		"html":                         {repeat("<HTML\nx%d>", 80_000), true},
		"no space":                     {repeat("<Body/x%d>", 80_000), true},
		"many attributes":              {"<body" + repeat(" x%d", 1<<20) + ">" + repeat("<body x%d=y>", 10), true},
		"no attributes":                {repeat("<html><body><p>%d", 80_000), false},
		"other names":                  {repeat("<htmlx a=b><bodyx a=b><bod a=b>%d", 80_000), false},
		"short":                        {repeat("<html lang=en><body class=a>%d", 500), false},
		"long, and few of them":        {"<html lang=en><body class=a>" + padding, false},
		"markers":                      {strings.Repeat("<template><OBJECT></template>", 30_000), true},
		"fewer markers":                {strings.Repeat("<template><object></template>", 10_000), false},
		"no markers":                   {strings.Repeat("<templates><objects></templates>", 30_000), false},
		"annotation":                   {"<math><Annotation-XML" + repeat(" x%d", 40_000) + ">" + strings.Repeat("<!>", 40_000), true},
		"few tags in it":               {"<math><annotation-xml" + repeat(" x%d", 40_000) + ">" + strings.Repeat("<!>", 2_000), false},
		"many annotations":             {repeat("<math><annotation-xml encoding=x%d></annotation-xml></math>", 40_000), false},
		"unclosed annotations":         {"<math>" + repeat("<annotation-xml '%d", 40_000) + padding, true},
		"many tags":                    {strings.Repeat("<p>", mostTags+1), true},
		"ends without elements":        {labels + strings.Repeat("</x>", 70_000), true},
		"ends of ignored rows":         {labels + strings.Repeat("<tr></tr>", 90_000), true},
		"ends of ended elements":       {labels + strings.Repeat("<div><i></div></i>", 150_000), true},
		"ends of elements":             {labels + strings.Repeat("<i><b></b></i>", 150_000), false},
		"ends without elements around": {strings.Repeat("</x><img>", 150_000), false},
		"ends of few elements":         {strings.Repeat("<p>", 490) + strings.Repeat("<table><tr><td><b>x</b></td></tr></table>", 30_000), false},
		"nothing":                      {"", false},
		"cut off":                      {"<body", false},
	} {
		if got := takesLong([]byte(c.body)); got != c.long {
			t.Errorf("%s: %t", name, got)
		}
		d := Interpret(htmlFetch("https://a.example/", "<title>t</title><p><a href=/b>c</a>"+c.body))
		if d.Title != "t" || len(d.Links) != 1 || d.Links[0].Target != "https://a.example/b" {
			t.Errorf("%s: title %q, links %v", name, d.Title, d.Links)
		}
	}
}
