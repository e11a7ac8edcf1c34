package lint

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestOtherPlatforms type-checks packages, with all that they import, as they are built for the
// platforms that the tests do not run on. Compiling the program for each would take minutes of
// processor time, most of it for SQLite; packaging/release does that. It skips without the modules
// that only the other platform needs.
func TestOtherPlatforms(t *testing.T) {
	for _, c := range []struct {
		platform, processor string
		pkg                 string // "." is the program
		least               int    // packages to check
	}{
		{"windows", "amd64", ".", 300},
		{"darwin", "amd64", ".", 300},
		{"linux", "386", "./observers/pagerank", 50}, // on 32 bits, only packages that have no reason to need more
	} {
		t.Run(c.platform+"/"+c.processor, func(t *testing.T) { typeCheck(t, c.platform, c.processor, c.pkg, c.least) })
	}
}

func typeCheck(t *testing.T, platform, processor, pkg string, least int) {
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		Context: t.Context(),
		Dir:     "../..",
		Env:     append(os.Environ(), "GOOS="+platform, "GOARCH="+processor, "CGO_ENABLED=0", "GOPROXY=off"),
	}, pkg)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	packages.Visit(list, nil, func(p *packages.Package) {
		checked++
		for _, e := range p.Errors {
			if strings.Contains(e.Msg, "GOPROXY=off") {
				t.Skipf("a module that the program needs on %s is not in the module cache; `go mod download` fetches it: %v", platform, e)
			}
			t.Errorf("%s: %v", p.PkgPath, e)
		}
	})
	if checked < least {
		t.Errorf("%d packages: this checks too little", checked)
	}
}
