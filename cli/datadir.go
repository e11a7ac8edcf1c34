package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// checkDataDir looks whether a directory is one of ours before anything is
// written to it: with a mistyped --data nothing must appear among somebody's
// files. What is inside store and index, their packages check.
func checkDataDir(dir string, create bool) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries = nil
	case err != nil:
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return fmt.Errorf("%w: %s is a file", errForeign, dir)
		}
		return fmt.Errorf("list the data directory: %w", err)
	}
	foreign := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "store":
			return nil
		case name != "index" && name != "index.mark" && name != "lost+found" && !strings.HasPrefix(name, "."):
			foreign = name
		}
	}
	switch {
	case foreign != "":
		return fmt.Errorf("%w: %s contains %q, and no store", errForeign, dir, foreign)
	case !create:
		return fmt.Errorf("%w: %s", errNoData, dir)
	}
	return nil
}
