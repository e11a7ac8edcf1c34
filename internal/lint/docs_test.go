package lint

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// docLink is the target of a Markdown link without a scheme, with its heading.
	docLink = regexp.MustCompile(`\]\(([^)\s:#]*)(#[^)\s]*)?\)`)

	// docPath is a source file or document in backquotes: `txn/oracle.go`.
	docPath = regexp.MustCompile("`([A-Za-z0-9_./-]+\\.(?:go|md))`")

	// docTest is a test or benchmark in backquotes: `TestSteps`. testName declares one.
	docTest  = regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z]\\w*)`")
	testName = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)

	// codeBlock is text that a document quotes.
	codeBlock = regexp.MustCompile("(?s)```.*?```")

	// notLetters are the characters that GitHub drops from a heading to make its anchor.
	notLetters = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// absent are files that documents name although they do not exist, with the reason.
var absent = map[string]string{
	"index/trial.go":    "docs/ranking-experiments.md says in which revision it was",
	"observers/NAME.go": "CONTRIBUTING.md tells to write it",
}

// documents returns the project's Markdown files by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		files, err := fs.Glob(os.DirFS("../.."), pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(filepath.Join("../..", name))
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = string(data)
		}
	}
	return texts
}

// anchors returns the anchors that GitHub gives to the headings of a document.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(codeBlock.ReplaceAllString(text, "")) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			a := notLetters.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			found["#"+strings.ReplaceAll(a, " ", "-")] = true
		}
	}
	return found
}

// Every relative link of a document leads to a file, and to a heading if it names one.
func TestDocumentLinks(t *testing.T) {
	texts := documents(t)
	for name, text := range texts {
		for _, m := range docLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			target := name
			if m[1] != "" {
				target = path.Join(path.Dir(name), m[1])
			}
			if _, err := os.Stat(filepath.Join("../..", target)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if m[2] != "" && !anchors(texts[target])[m[2]] {
				t.Errorf("%s links to %s%s: there is no such heading", name, m[1], m[2])
			}
		}
	}
}

// Every file that a document names exists: from the root of the project, or, without a
// directory, anywhere in it.
func TestDocumentsNameFiles(t *testing.T) {
	known := map[string]bool{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != "." && strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci" {
			return fs.SkipDir
		}
		known[name], known[path.Base(name)] = true, true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range documents(t) {
		for _, m := range docPath.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			if !known[m[1]] && absent[m[1]] == "" {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
}

// Every test and benchmark that a document names exists.
func TestDocumentsNameTests(t *testing.T) {
	known := map[string]bool{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := os.ReadFile(filepath.Join("../..", name))
		for _, m := range testName.FindAllStringSubmatch(string(data), -1) {
			known[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range documents(t) {
		for _, m := range docTest.FindAllStringSubmatch(text, -1) {
			if !known[m[1]] {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
}
