package warc

import (
	"archive/zip"
	"bytes"
	"testing"
)

// TestWACZ: a ZIP file with WARC files that are stored as they are is read like these, without problems.
func TestWACZ(t *testing.T) {
	type entry struct {
		name, content string
		method        uint16
	}
	pages := entry{"pages/pages.jsonl", "{\"format\":\"json-pages-1.0\"}\n{\"url\":\"http://a.example/one\"}\n", zip.Deflate}
	one, two := gz(record("one", html("1")), record("two", html("2"))), gz(record("three", html("3")))
	stored := []entry{{"archive/one.warc.gz", one, zip.Store}, pages, {"archive/two.warc.gz", two, zip.Store}, {"datapackage.json", "{}", zip.Store}}
	pack := func(list ...entry) string {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for _, e := range list {
			f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte(e.content)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, c := range []struct{ name, file, want string }{
		{"stored", pack(stored...), "one two three problems=0"},
		{"compressed", pack(entry{"archive/one.warc.gz", one, zip.Deflate}, pages), "problems=1"},
		{"damaged", pack(stored...)[:len(one)] + "no ZIP" + two, "one three problems=2"},
		{"behind a record", two + pack(pages), "three problems=1"},
	} {
		if got, _ := read(t, c.file, Options{}); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
