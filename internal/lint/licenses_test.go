package lint

import (
	"os"
	"regexp"
	"testing"

	"golang.org/x/tools/go/packages"
)

var (
	licenseRow  = regexp.MustCompile("(?m)^\\| `(\\S+)` \\| (v\\S+) \\| \\S.* \\|$")
	requirement = regexp.MustCompile(`(?m)^\t(\S+) (v\S+)( // indirect)?$`)
)

// versions returns the versions of the modules that a file of the project lists.
func versions(t *testing.T, file string, line *regexp.Regexp) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range line.FindAllStringSubmatch(string(data), -1) {
		found[m[1]] = m[2]
	}
	if len(found) < 100 {
		t.Fatalf("only %d modules were found in %s", len(found), file)
	}
	return found
}

// docs/licenses.md lists every module that is linked on this system, with the version that go.mod
// requires. Modules that are linked only on other systems are not looked for: they may not be in the
// module cache.
func TestLicenses(t *testing.T) {
	rows, required := versions(t, "docs/licenses.md", licenseRow), versions(t, "go.mod", requirement)
	for path, version := range rows {
		if required[path] == "" {
			t.Errorf("docs/licenses.md lists %s, which go.mod does not require: remove the row", path)
		} else if required[path] != version {
			t.Errorf("docs/licenses.md lists %s %s: go.mod requires %s; change the version, and check the licenses of the new one", path, version, required[path])
		}
	}
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedModule, Context: t.Context(), Dir: "../..", Env: append(os.Environ(), "GOPROXY=off"),
	}, ".")
	if err != nil {
		t.Fatal(err)
	}
	linked := 0
	packages.Visit(list, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			t.Errorf("%s: %v", p.PkgPath, e)
		}
		if m := p.Module; m != nil && !m.Main {
			linked++
			if rows[m.Path] == "" {
				t.Errorf("docs/licenses.md does not list %s %s: add a row with its licenses", m.Path, m.Version)
				rows[m.Path] = m.Version // complain once
			}
		}
	})
	if linked < 100 {
		t.Errorf("%d packages of modules: this checks too little", linked)
	}
}
