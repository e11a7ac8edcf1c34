package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// replaceFile writes a file that has its name only when it is complete. When
// write fails, what was there before stays as it is.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &inputError{what: path, reason: "is a directory; name a file"}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return &inputError{what: path, reason: fmt.Sprintf("cannot be written: %v", err)}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	buffered := bufio.NewWriterSize(f, 1<<16)
	if err := write(buffered); err != nil {
		return err
	}
	for _, step := range []func() error{
		buffered.Flush, f.Sync, func() error { return f.Chmod(0o644) }, f.Close,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return os.Rename(f.Name(), path)
}
