package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// checkDataDir checks whether a directory is a data directory before anything is written
// to it, so that a mistyped --data does not put our files among someone's documents.
// Packages store and index check the contents of their own directories.
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
