//go:build ignore

// This program writes trigrams.txt from the profiles of whatlanggo, which are not
// exported.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/abadojack/whatlanggo"

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate() error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("find %s: %w", module, err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "lang.go"), nil, 0)
	if err != nil {
		return err
	}
	var (
		out    bytes.Buffer
		failed []error
	)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasSuffix(spec.Names[0].Name, "Langs") && len(spec.Values) == 1 {
			failed = append(failed, writeScript(&out, strings.TrimSuffix(spec.Names[0].Name, "Langs"), spec.Values[0]))
		}
		return true
	})
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return os.WriteFile("trigrams.txt", out.Bytes(), 0o644)
}

// writeScript writes a line "script language trigrams" for each language.
func writeScript(out *bytes.Buffer, script string, profiles ast.Expr) error {
	list, ok := profiles.(*ast.CompositeLit)
	if !ok || script == "" {
		return nil
	}
	var lines []string
	for _, e := range list.Elts {
		pair := e.(*ast.KeyValueExpr)
		trigrams, ok := pair.Value.(*ast.CompositeLit)
		if !ok {
			return nil // names of languages, not profiles
		}
		line := script + " " + strings.ToLower(pair.Key.(*ast.Ident).Name) + " "
		for _, t := range trigrams.Elts {
			s, err := strconv.Unquote(t.(*ast.BasicLit).Value)
			if err != nil {
				return err
			}
			line += s
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	for _, l := range lines {
		fmt.Fprintln(out, l)
	}
	return nil
}
