package webgen

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestTrees: HTML files become pages at the URLs at which a server would have them.
func TestTrees(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"index.html", "guide/index.html", "guide/the lamp.html", "old.htm", "style.css"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("<title>"+name+"</title>"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := ParseTree("https://tool.example/docs/1.2/=" + root)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Trees(t.Context(), t.TempDir(), []Tree{tree}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if _, err := eachFetch(t.Context(), res.Files[0], func(f *page.Fetch) error {
		got = append(got, string(f.URL)+" "+page.Interpret(f).Title)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"https://tool.example/docs/1.2/guide/ guide/index.html",
		"https://tool.example/docs/1.2/guide/the%20lamp.html guide/the lamp.html",
		"https://tool.example/docs/1.2/ index.html",
		"https://tool.example/docs/1.2/old.htm old.htm",
	}
	if !slices.Equal(got, want) || res.Pages != len(want) {
		t.Errorf("%d pages:\n%s", res.Pages, strings.Join(got, "\n"))
	}
}

func TestParseTreeErrors(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"":                             "no URL=DIRECTORY",
		"https://a.example/":           "no URL=DIRECTORY",
		"https://a.example/=":          "no URL=DIRECTORY",
		"https://a.example=" + dir:     "ends with a slash",
		"ftp://a.example/=" + dir:      "http or https",
		"https://a.example/?x/=" + dir: "without a query",
		"https://a.example/=missing":   "missing",
	} {
		if _, err := ParseTree(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
