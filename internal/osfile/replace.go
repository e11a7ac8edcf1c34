package osfile

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// replaceFile writes a regular file that gets its name only when it is complete. The new
// file gets the mode of the file that it replaces, and its owner and group if this process
// may set them. Without an old file it gets the usual mode of new files.
//
// The content is first written to a file with another name in the same directory, which is
// then renamed. A killed process leaves that file. The file is locked (flock) while it is
// written, and the kernel releases the lock with the process. So a later run removes the
// files that it can lock: the name shows that a file is ours, and the lock shows that no
// process is writing it. Process ids in names would not work: they are reused, and mean
// nothing on another machine or in another container.
func replaceFile(name string, t target, write func(io.Writer) error) (err error) {
	removeAbandoned(filepath.Dir(t.path))
	if t.info != nil {
		if err := checkWritable(t.path); err != nil {
			return notWritable(name, err)
		}
	}
	f, err := createPart(filepath.Dir(t.path), t.info)
	if err != nil {
		return notWritable(name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
		err = errors.Join(err, f.Close()) // also releases the lock, so not before the file has its name
	}()
	buffered := bufio.NewWriterSize(f, 1<<16)
	if err := write(buffered); err != nil {
		return err
	}
	for _, step := range []func() error{
		buffered.Flush, func() error { return copyMode(f, t.info) }, f.Sync, func() error { return os.Rename(f.Name(), t.path) },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// checkWritable refuses to replace a file that this process may not write. The directory
// would permit it, but the owner has protected the file.
func checkWritable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// partName matches the names of unfinished files.
var partName = regexp.MustCompile(`^\.indexer-[0-9a-f]{32}\.part$`)

// createPart creates an unfinished file and locks it. Its mode excludes everyone who may not
// read the old file.
func createPart(dir string, old fs.FileInfo) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600
	}
	for {
		var random [16]byte
		_, _ = rand.Read(random[:]) // it never fails
		name := filepath.Join(dir, fmt.Sprintf(".indexer-%x.part", random))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return nil, err
		}
		// Another run may lock it first and remove it as abandoned. Then create another one.
		if Lock(f) != Taken && IsNamed(f) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// IsNamed reports whether a file still has its name.
func IsNamed(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(mine, named)
}

// removeAbandoned removes the unfinished files of processes that have ended. A file that
// cannot be examined, locked or removed stays, which is harmless.
func removeAbandoned(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer func() { _ = d.Close() }() // it was read only
	for {
		names, err := d.Readdirnames(256)
		for _, name := range names {
			if partName.MatchString(name) {
				removeIfAbandoned(filepath.Join(dir, name))
			}
		}
		if err != nil {
			return
		}
	}
}

func removeIfAbandoned(path string) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // nothing was written
	if Lock(f) == Held && IsNamed(f) {
		_ = os.Remove(path) // if it cannot be removed, it stays
	}
}
