package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/webindexer/indexer/internal/osfile"
	"github.com/webindexer/indexer/repository"
)

// writeOutput writes the file that --output of a command names. It writes nothing into the directories of the
// store and of the index, where it could replace one of their files.
func (a *app) writeOutput(ctx context.Context, output, command string, write func(io.Writer) error) error {
	for _, own := range []string{repository.StoreDir(a.cfg.Data), repository.IndexDir(a.cfg.Data)} {
		if isBelow(output, own) {
			return &usageError{reason: "--output " + output + ": the directory " + own + " is for the files of indexer alone; name a file elsewhere", help: command}
		}
	}
	return osfile.Write(ctx, output, write)
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
