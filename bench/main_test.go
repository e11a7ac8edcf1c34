package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/cli"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/config"
	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/sites"
)

func TestMain(m *testing.M) {
	testscript.Main(pgtest.Main{M: m}, map[string]func(){
		"bench":   main,
		"indexer": func() { os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs every benchmark on something small. In addition to the commands of
// testscript, the scripts use:
//
//	exits N command…  the command ends with exit status N
//
// The file lighthouse.warc.gz is there, and $BENCH is the path of the program.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("BENCH", programPath(e, "bench"))
			return pack("lighthouse", e.WorkDir)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

func programPath(e *testscript.Env, name string) string {
	return filepath.Join(filepath.SplitList(e.Getenv("PATH"))[0], name)
}

// TestScriptsOnPostgres runs the benchmarks that need a database. Beside what the other
// scripts have, $POSTGRES is its URL, and $INDEXER the path of the program indexer.
func TestScriptsOnPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and several processes")
	}
	server := pgtest.Shared(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/postgres",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("POSTGRES", server.URL(""))
			e.Setenv("INDEXER", programPath(e, "indexer"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

// pack writes the WARC file of a small web.
func pack(name, dir string) error {
	path := filepath.Join("..", "testdata", "sites", name+".txt")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	site, err := sites.Parse(path, text)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if _, err := sites.Pack(&packed, site, sites.PackOptions{}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".warc.gz"), packed.Bytes(), 0o600)
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N command…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Check(fmt.Errorf("exit status %d, want %s", got, args[0]))
	}
}

// TestHelp: every command says what it does, and its examples are of commands and flags
// that exist.
func TestHelp(t *testing.T) {
	a := &app{}
	for _, cmd := range append(a.rootCommand().Commands(), a.rootCommand()) {
		if cmd.Hidden {
			continue
		}
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%q has no help, or no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			args, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./bench ")
			if !ok {
				t.Errorf("%q is no example of this program", line)
			}
			checkExample(t, a.rootCommand(), strings.Fields(args))
		}
	}
}

func checkExample(t *testing.T, root *cobra.Command, args []string) {
	t.Helper()
	cmd, rest, err := root.Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil || cmd == root {
		t.Errorf("example %q: %v", args, err)
	}
}

// TestDefaultWeights: the benchmarks measure the ranking that the program has.
func TestDefaultWeights(t *testing.T) {
	a := &app{cfg: config.Default()}
	if got := search.Weights(a.cfg.Query.Weights); got != search.DefaultWeights {
		t.Errorf("settings %+v, library %+v", got, search.DefaultWeights)
	}
}
