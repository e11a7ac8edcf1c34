package lint

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"sync"
	"testing"
)

// forbidden are the calls that this project does not make.
var forbidden = []Call{
	{Name: "os.Exit", Instead: "only main ends the process; return an error, cli/errors.go makes an exit status of it", Allowed: Allowed{
		"main.go":               "the one place",
		"bench/main.go":         "a program of its own",
		"examples/bank/main.go": "a program of its own",
		"examples/join/main.go": "a program of its own",
		"page/trigrams_gen.go":  "a program of its own",
		"store/bigtable/bigtabletest/emulator/main.go": "a program of its own",
	}},
	{Name: "log.Fatal", Instead: "return an error"},
	{Name: "panic", Instead: "return an error", Allowed: Allowed{
		"page/url.go":        "MustParseURL is for literals in tests and tables",
		"schema/compress.go": "options of an encoder that are constants",
	}},
	{Name: "fmt.Print", Instead: "write to a writer that the caller gives"},
	{
		Name: "time.Sleep", Tests: true, BesideImport: "testing/synctest",
		Instead: "use testing/synctest, where time passes at once, or wait for the event itself",
	},
}

// loaded parses the project once for all tests.
var loaded = sync.OnceValues(func() ([]*File, error) { return Load("../..") })

func project(t *testing.T) []*File {
	t.Helper()
	files, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d Go files were found", len(files))
	}
	return files
}

func TestArrows(t *testing.T)   { complain(t, CheckArrows(project(t), Arrows)) }
func TestCalls(t *testing.T)    { complain(t, CheckCalls(project(t), forbidden)) }
func TestLengths(t *testing.T)  { complain(t, CheckLengths(project(t))) }
func TestComments(t *testing.T) { complain(t, CheckPackageComments(project(t))) }

func complain(t *testing.T, wrong []string) {
	t.Helper()
	slices.Sort(wrong)
	for _, w := range wrong {
		t.Error(w)
	}
}

// No package may be above a package that it is below.
func TestArrowsHaveNoLoop(t *testing.T) {
	place := make(map[string]int)
	for i, a := range Arrows {
		if _, twice := place[a.Package]; twice {
			t.Errorf("%q stands twice in Arrows", a.Package)
		}
		place[a.Package] = i
	}
	for i, a := range Arrows {
		for _, may := range a.May {
			at, ok := place[may]
			if !ok {
				t.Errorf("%q may import %q, which has no line in Arrows", a.Package, may)
			}
			if at >= i && may != a.Package {
				t.Errorf("%q may import %q, which stands above it", a.Package, may)
			}
		}
	}
}

// The rules find what they are for.
func TestRulesFindTheirMistakes(t *testing.T) {
	for _, tt := range []struct {
		name, path, src, want string
		check                 func([]*File) []string
	}{
		{"upwards import", "store/x.go", `package store; import _ "github.com/webindexer/indexer/txn"`, "store/x.go imports txn; store may import store, internal/sleep, because", arrows},
		{"own package below", "store/badgerdb/x.go", `package badgerdb; import _ "github.com/webindexer/indexer/store"`, "", arrows},
		{"main", "main.go", `package main; import _ "github.com/webindexer/indexer/store"`, "main.go imports store; main may import cli", arrows},
		{"unknown package", "novel/x.go", `package novel`, `package "novel" has no line`, arrows},
		{"tests may import", "page/x_test.go", `package page; import _ "github.com/webindexer/indexer/cli"`, "", arrows},
		{"exit", "page/x.go", `package page; import "os"; func f() { os.Exit(1) }`, "page/x.go:1:39: os.Exit: only main", calls},
		{"fatal", "page/x.go", `package page; import "log"; func f() { log.Fatalf("x") }`, "log.Fatalf: return an error", calls},
		{"panic", "page/x.go", `package page; func f() { panic("x") }`, "panic: return an error", calls},
		{"print", "page/x.go", `package page; import "fmt"; func f() { fmt.Println() }`, "fmt.Println: write to", calls},
		{"sleep", "page/x_test.go", `package page; import "time"; func f() { time.Sleep(1) }`, "time.Sleep: use testing/synctest", calls},
		{"no comment", "page/x.go", `package page`, "package page has no comment", CheckPackageComments},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &File{Path: tt.path, Set: token.NewFileSet()}
			var err error
			if f.Tree, err = parser.ParseFile(f.Set, f.Path, tt.src, parser.ParseComments); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(tt.check([]*File{f}), "\n")
			if !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func arrows(files []*File) []string { return CheckArrows(files, Arrows) }

func calls(files []*File) []string {
	bare := slices.Clone(forbidden)
	for i := range bare {
		bare[i].Allowed = nil
	}
	return CheckCalls(files, bare)
}

func TestLongFile(t *testing.T) {
	if got := CheckLengths([]*File{{Path: "a.go", Lines: MaxLines}, {Path: "b.go", Lines: MaxLines + 1}}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
