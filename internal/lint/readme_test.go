package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)\n```")

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What the README's first two commands promise, .ci/run tries.
func TestReadmeCommandsAreTried(t *testing.T) {
	blocks := shellBlock.FindAllStringSubmatch(readme(t), -1)
	if len(blocks) < 2 {
		t.Fatal("the README has fewer than two commands")
	}
	script, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks[:2] {
		if strings.Contains(b[1], "\n") {
			t.Errorf("not one command: %s", b[1])
		}
		if !strings.Contains(string(script), b[1]) {
			t.Errorf(".ci/run does not run: %s", b[1])
		}
	}
}

// The README's map names every package, and none that is not there.
func TestReadmeMap(t *testing.T) {
	text := readme(t)
	seen := map[string]bool{"": true, "internal": true}
	for _, f := range project(t) {
		top, _, _ := strings.Cut(f.Package(), "/")
		if !seen[top] && !strings.Contains(text, "`"+top+"`") {
			t.Errorf("the README's map does not have `%s`", top)
		}
		seen[top] = true
	}
	for _, m := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(text, -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			if _, err := os.Stat(filepath.Join("../..", strings.Trim(name, "`"))); err != nil {
				t.Errorf("the README's map has %s: %v", name, err)
			}
		}
	}
}
