// Package histories_test records the operations of transactions under load, and lets Elle
// check them. Elle is an isolation checker that this project did not write: the tests run
// it as shared/tools/isolation-judge, which is built outside the project.
package histories_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/pgtest"
)

const judgeSource = "../../../shared/tools/isolation-judge"

var (
	judgeOnce sync.Once
	judgePath string
	judgeWhy  string // why there is none
)

// TestMain removes what the tests built.
func TestMain(m *testing.M) {
	killtest.Main(map[string]func() error{"clients": beClients})
	dir, err := os.MkdirTemp("", "isolation-judge")
	if err != nil {
		panic(err)
	}
	judgePath = dir
	code := pgtest.Main{M: m}.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// needJudge builds the judge, once, from a copy outside the repository.
func needJudge(t *testing.T) {
	t.Helper()
	judgeOnce.Do(func() {
		if _, err := os.Stat(judgeSource); errors.Is(err, fs.ErrNotExist) {
			judgeWhy = "no isolation judge beside the project: " + judgeSource
			return
		}
		source := filepath.Join(judgePath, "source")
		if err := os.CopyFS(source, os.DirFS(judgeSource)); err != nil {
			judgeWhy = "the isolation judge cannot be copied: " + err.Error()
			return
		}
		build := exec.Command("go", "build", "-o", filepath.Join(judgePath, "judge"), ".")
		build.Dir = source
		if out, err := build.CombinedOutput(); err != nil {
			judgeWhy = "the isolation judge cannot be built here: " + err.Error() + "\n" + string(out)
		}
	})
	if judgeWhy != "" {
		t.Skip(judgeWhy)
	}
}

// judge has a history judged: whether it is valid, and the anomalies it names.
func judge(t *testing.T, history []byte, args ...string) (valid bool, verdict string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(file, history, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(judgePath, "judge"), append(args, file)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return true, strings.TrimSpace(string(out))
	case exited && exit.ExitCode() == 1:
		return false, strings.TrimSpace(string(out))
	}
	t.Fatalf("the judge: %v\n%s", err, stderr.Bytes())
	return false, ""
}

// mustHold fails the test unless the history is valid, including its real-time order.
func mustHold(t *testing.T, history []byte, args ...string) {
	t.Helper()
	for _, more := range [][]string{nil, {"-realtime"}} {
		if valid, verdict := judge(t, history, append(more, args...)...); !valid {
			kept := filepath.Join(os.TempDir(), "history-"+strings.ReplaceAll(t.Name(), "/", "-")+".jsonl")
			_ = os.WriteFile(kept, history, 0o644)
			t.Errorf("%v: %s\nthe history is in %s", append(more, args...), verdict, kept)
		}
	}
}

// anomalies lists the names in a verdict.
func anomalies(verdict string) (names []string) {
	for line := range strings.Lines(verdict) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "anomaly: "); ok {
			names = append(names, name)
		}
	}
	return names
}
