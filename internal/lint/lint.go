// Package lint checks the rules of the project that a compiler does not check: which
// package may import which (arrows.go), and idioms (idioms.go). The rules run as tests. A
// message names the rule and says what to do instead.
package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// module is the path under which the project's packages are imported, as in go.mod.
var module = strings.TrimSuffix(reflect.TypeFor[File]().PkgPath(), "/internal/lint")

// File is a Go file of the project.
type File struct {
	Path  string // from the project's root, with slashes
	Set   *token.FileSet
	Tree  *ast.File
	Lines int
}

// Package is the import path of the file's package, without the module: "" for
// main.
func (f *File) Package() string {
	dir := filepath.ToSlash(filepath.Dir(f.Path))
	if dir == "." {
		return ""
	}
	return dir
}

// IsTest reports whether the file is part of tests only.
func (f *File) IsTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Imports lists the packages of the project that the file imports.
func (f *File) Imports() []string {
	var list []string
	for _, spec := range f.Tree.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if rest, ok := strings.CutPrefix(path, module+"/"); ok {
			list = append(list, rest)
		}
	}
	return list
}

// Load parses all Go files under root but those in testdata and hidden
// directories.
func Load(root string) ([]*File, error) {
	var files []*File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (name == "testdata" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := load(root, path)
		if err == nil {
			files = append(files, f)
		}
		return err
	})
	return files, err
}

func load(root, path string) (*File, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: filepath.ToSlash(rel), Set: token.NewFileSet(), Lines: strings.Count(string(src), "\n")}
	f.Tree, err = parser.ParseFile(f.Set, f.Path, src, parser.ParseComments|parser.SkipObjectResolution)
	return f, err
}
