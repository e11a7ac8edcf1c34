package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/webindexer/indexer/internal/opensearchtest"
	"github.com/webindexer/indexer/internal/pgtest"
)

func TestMain(m *testing.M) {
	testscript.Main(fixturesMain{opensearchtest.Main{M: pgtest.Main{M: m}}}, map[string]func(){
		"indexer": func() {
			failpoint = failpointOf(os.Getenv(failpointVariable))
			os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScripts runs every command as a story. In addition to the commands of testscript,
// the scripts use:
//
//	exits N command…     the command ends with exit status N
//	start NAME command…  runs a command in the background
//	signal NAME SIGNAL   sends it INT, TERM, KILL, STOP or CONT
//	ends NAME N          waits for it; its output is in NAME.out and NAME.err then
//	fifo NAME            makes a named pipe
//	attach NAME          waits until a process reads from the pipe
//	feed NAME FILE       writes the file into it
//	detach NAME          ends what is written into it
//	until PATTERN command…   runs a command until its output matches the pattern
//	answers DIR          waits until a process answers for the data directory
//	json FILE PATH WANT  the value at a.0.b in a JSON object; a.length is how many it has
//	fields FILE PATH NAMES…  the object there has these fields, and no others
//	web DIR              serves the files of a directory on loopback, as $WEB; makes
//	                     seeds.txt with it, and partly.txt with a line that is not a seed
//
// $SITES is testdata/sites.
func TestScripts(t *testing.T) {
	sites, err := filepath.Abs("../testdata/sites")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SITES", sites)
			s := newStage(e.WorkDir, e.Vars)
			e.Values[stageKey{}] = s
			e.Defer(s.clear)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"json":    jsonValue,
			"fields":  jsonFields,
			"start":   onStage((*stage).start),
			"signal":  onStage((*stage).signal),
			"ends":    onStage((*stage).ends),
			"fifo":    onStage((*stage).fifo),
			"attach":  onStage((*stage).attach),
			"feed":    onStage((*stage).feed),
			"detach":  onStage((*stage).detach),
			"until":   onStage((*stage).until),
			"answers": onStage((*stage).answers),
			"web":     serveFiles,
		},
	})
}

// serveFiles serves a directory until the script ends.
func serveFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: web DIR")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	ts.Defer(server.Close)
	ts.Setenv("WEB", server.URL)
	ts.Check(os.WriteFile(ts.MkAbs("seeds.txt"), []byte("# the lighthouse\n"+server.URL+"/\n"), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("partly.txt"), []byte(server.URL+"/\nno URL at all\n"), 0o600))
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N command…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(sameStatus(ts.Exec(args[1], args[2:]...), want))
}

// sameStatus compares how a command ended with what was expected.
func sameStatus(err error, want int) error {
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		return err
	}
	if got != want {
		return fmt.Errorf("exit status %d, want %d", got, want)
	}
	return nil
}
