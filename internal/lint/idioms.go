package lint

import (
	"fmt"
	"go/ast"
	"strings"
)

// Allowed are the places where a rule does not hold, each with its reason.
type Allowed map[string]string // path → reason

// MaxLines is how long a Go file may be.
const MaxLines = 450

// Call is a call that is forbidden.
type Call struct {
	Name    string // as written: "os.Exit"; a trailing dot or word matches all names that begin so
	Tests   bool   // forbidden in tests; otherwise in all code but tests
	Instead string
	Allowed Allowed
	// BesideImport allows the call in packages whose tests import this package.
	BesideImport string
}

// CheckCalls lists the forbidden calls.
func CheckCalls(files []*File, calls []Call) []string {
	var wrong []string
	used := make(map[string]bool)
	imports := testImports(files)
	for _, f := range files {
		ast.Inspect(f.Tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := nameOfCall(call)
			for _, c := range calls {
				if c.Tests != (f.IsTest() || isTestSupport(f.Package())) || name == "" || !strings.HasPrefix(name, c.Name) || imports[f.Package()+" "+c.BesideImport] {
					continue
				}
				if _, ok := c.Allowed[f.Path]; ok {
					used[c.Name+" "+f.Path] = true
					continue
				}
				wrong = append(wrong, fmt.Sprintf("%s: %s: %s", f.Set.Position(call.Pos()), name, c.Instead))
			}
			return true
		})
	}
	for _, c := range calls {
		for path := range c.Allowed {
			if !used[c.Name+" "+path] {
				wrong = append(wrong, fmt.Sprintf("%s is allowed in %s and not used there: take it off the list", c.Name, path))
			}
		}
	}
	return wrong
}

// testImports holds "package import" for what the tests of each package import.
func testImports(files []*File) map[string]bool {
	imports := make(map[string]bool)
	for _, f := range files {
		for _, spec := range f.Tree.Imports {
			if f.IsTest() {
				imports[f.Package()+" "+strings.Trim(spec.Path.Value, `"`)] = true
			}
		}
	}
	return imports
}

// nameOfCall is "panic" or "os.Exit", as written; "" for anything else.
func nameOfCall(call *ast.CallExpr) string {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return fn.Name
	case *ast.SelectorExpr:
		if x, ok := fn.X.(*ast.Ident); ok {
			return x.Name + "." + fn.Sel.Name
		}
	}
	return ""
}

// CheckLengths lists the files that are too long. Nobody reads generated ones.
func CheckLengths(files []*File) []string {
	var wrong []string
	for _, f := range files {
		if f.Lines > MaxLines && (f.Tree == nil || !ast.IsGenerated(f.Tree)) {
			wrong = append(wrong, fmt.Sprintf("%s has %d lines; at most %d: give each idea in it a file of its own", f.Path, f.Lines, MaxLines))
		}
	}
	return wrong
}

// CheckPackageComments lists the packages that do not say what they are.
func CheckPackageComments(files []*File) []string {
	documented := make(map[string]bool)
	for _, f := range files {
		if !f.IsTest() {
			documented[f.Package()] = documented[f.Package()] || f.Tree.Doc != nil
		}
	}
	var wrong []string
	for pkg, ok := range documented {
		if !ok {
			wrong = append(wrong, fmt.Sprintf("package %s has no comment; say in its doc.go what it is and what it promises", nameOf(pkg)))
		}
	}
	return wrong
}
