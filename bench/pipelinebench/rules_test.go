package pipelinebench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRules: what the rules name of this program is there. A function that is renamed would
// silently count as part of something else.
func TestRules(t *testing.T) {
	for _, r := range rules {
		for _, f := range r.Functions {
			path, own := strings.CutPrefix(f, "github.com/webindexer/indexer/")
			if !own {
				continue
			}
			parent, last := filepath.Split(path)
			pkg, name, _ := strings.Cut(last, ".")
			if !slices.ContainsFunc(functionsIn(t, filepath.Join("..", "..", parent, pkg)), func(f string) bool { return strings.HasPrefix(f, name) }) {
				t.Errorf("%s: there is no %s", r.Part, f)
			}
		}
	}
}

// functionsIn lists the functions of a package as the runtime prints them, without the package.
func functionsIn(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				if p, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
					if id, ok := p.X.(*ast.Ident); ok {
						name = "(*" + id.Name + ")." + name
					}
				}
			}
			list = append(list, name)
		}
	}
	return list
}
