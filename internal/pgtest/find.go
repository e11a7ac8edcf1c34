package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// binVariable names the environment variable with the directory of the server's programs.
const binVariable = "INDEXER_POSTGRES_BIN"

// findPrograms returns the directory that has initdb and postgres: the one that
// binVariable names, or that of the newest Debian package, or what PATH finds.
func findPrograms() (string, error) {
	if dir := os.Getenv(binVariable); dir != "" {
		if !hasServer(dir) {
			return "", fmt.Errorf("%s=%s: there is no initdb in this directory", binVariable, dir)
		}
		return dir, nil
	}
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	newest, version := "", -1.0
	for _, dir := range dirs {
		v, err := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64)
		if err == nil && v > version && hasServer(dir) {
			newest, version = dir, v
		}
	}
	if newest != "" {
		return newest, nil
	}
	if path, err := exec.LookPath("initdb"); err == nil && hasServer(filepath.Dir(path)) {
		return filepath.Dir(path), nil
	}
	return "", fmt.Errorf("there is no PostgreSQL server on this machine: install the Debian package postgresql, or name the directory of its programs in %s", binVariable)
}

func hasServer(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}
