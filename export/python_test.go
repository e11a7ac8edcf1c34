package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// pythonWith returns a Python that has a module, as an independent reader; without one
// the test is skipped. INDEXER_TEST_PYTHON names an interpreter other than python3, such
// as that of a virtual environment with what testdata/requirements.txt lists: that
// interpreter must have the module.
func pythonWith(t *testing.T, module string) string {
	t.Helper()
	python, missing := os.Getenv("INDEXER_TEST_PYTHON"), t.Fatalf
	if python == "" {
		python, missing = "python3", t.Skipf
	}
	if err := exec.CommandContext(t.Context(), python, "-c", "import "+module).Run(); err != nil {
		missing("no independent reader: %s has no %s (see testdata/requirements.txt): %v", python, module, err)
	}
	return python
}

// runPython runs a script of testdata and returns what it prints.
func runPython(t *testing.T, python, script string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python, append([]string{filepath.Join("testdata", script)}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "PYTHONIOENCODING=utf-8", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}
