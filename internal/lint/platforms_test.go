package lint

import (
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestOtherPlatforms type-checks the program as it is built for the platforms that the tests do
// not run on. Compiling it for each would take minutes of processor time, most of it for SQLite;
// packaging/release does that. It skips without the modules that only the other platform needs.
func TestOtherPlatforms(t *testing.T) {
	for _, platform := range []string{"windows", "darwin"} {
		t.Run(platform, func(t *testing.T) { typeCheck(t, platform) })
	}
}

func typeCheck(t *testing.T, platform string) {
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		Context: t.Context(),
		Dir:     "../..",
		Env:     append(os.Environ(), "GOOS="+platform, "GOARCH=amd64", "CGO_ENABLED=0", "GOPROXY=off"),
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	program := slices.IndexFunc(list, func(p *packages.Package) bool { return p.Name == "main" && p.PkgPath == module })
	if program < 0 {
		t.Fatal("the program is not among the packages")
	}
	checked := 0
	packages.Visit(list[program:program+1], nil, func(p *packages.Package) {
		checked++
		for _, e := range p.Errors {
			if strings.Contains(e.Msg, "GOPROXY=off") {
				t.Skipf("a module that the program needs on %s is not in the module cache; `go mod download` fetches it: %v", platform, e)
			}
			t.Errorf("%s: %v", p.PkgPath, e)
		}
	})
	if checked < 300 {
		t.Errorf("%d packages: this checks too little", checked)
	}
}
