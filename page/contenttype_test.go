package page

import (
	"net/http"
	"strings"
	"testing"
)

func TestOneContentType(t *testing.T) {
	for fields, want := range map[string]string{
		"":                                 "",
		"text/html":                        "text/html",
		"Text/HTML; Charset=\"UTF-8\"":     "Text/HTML; Charset=\"UTF-8\"",
		"text/html, text/html":             "text/html",
		"text/html\ntext/plain":            "text/plain",
		"text/html, application/json":      "application/json",
		"text/html; charset=koi8-r, x/y":   "x/y",
		"text/plain, */*, charset=utf-8":   "text/plain",
		", html":                           "",
		`text/html; a="b, c/d"; charset=x`: "text/html; charset=x",
		"a/b;charset=1,a/b;charset=2,A/B":  "a/b; charset=2",
		"a/b;charset=1,c/d,a/b":            "a/b",
	} {
		h := http.Header{}
		if fields != "" {
			h["Content-Type"] = strings.Split(fields, "\n")
		}
		if OneContentType(h); strings.Join(h.Values("Content-Type"), "\n") != want {
			t.Errorf("%q becomes %q, want %q", fields, h["Content-Type"], want)
		}
	}
}
