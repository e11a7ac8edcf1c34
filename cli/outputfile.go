package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/webindexer/indexer/internal/osfile"
	"github.com/webindexer/indexer/repository"
)

// writeOutput writes to the file that a flag of a command names, "-" for standard output. If binary
// says that the output is not text, it is not written to a terminal.
func (a *app) writeOutput(ctx context.Context, command, flag, output, binary string, write func(io.Writer) error) error {
	if output == "-" {
		if _, tty := terminal(a.stdout); tty && binary != "" {
			return &usageError{reason: binary + " and is not written to a terminal; name a file with " + flag, help: command}
		}
		return write(a.stdout)
	}
	if err := a.refuseOwn(command, flag, output); err != nil {
		return err
	}
	return osfile.Write(ctx, output, write)
}

// refuseOwn returns an error if the path that a flag names is in the directory of the store or of the
// index, where a file could replace one of theirs, and would be lost with them.
func (a *app) refuseOwn(command, flag, path string) error {
	for _, own := range []string{repository.StoreDir(a.cfg.Data), repository.IndexDir(a.cfg.Data)} {
		if isBelow(path, own) || a.nameInData(path) == filepath.Base(own) {
			return &usageError{reason: flag + " " + path + ": the directory " + own + " is for the files of indexer alone; name another place", help: command}
		}
	}
	return nil
}

// isBelow reports whether a file is in a directory, or would be.
func isBelow(file, dir string) bool {
	own, err := os.Stat(dir)
	if err != nil {
		return false
	}
	at, err := filepath.EvalSymlinks(file) // what a link leads to is replaced
	if err != nil {
		at, err = filepath.EvalSymlinks(filepath.Dir(file))
	}
	if err == nil {
		at, err = filepath.Abs(at)
	}
	if err != nil {
		return false
	}
	for above := ""; ; at = above {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, own) {
			return true
		}
		if above = filepath.Dir(at); above == at {
			return false
		}
	}
}
