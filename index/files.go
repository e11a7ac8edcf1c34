package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// # Which file is the index
//
// The first file is shard-000.sqlite. A rebuild makes the next one, shard-000.2.sqlite and
// so on, while the previous one is still read and written, and puts it in place by one
// rename, from a name that ends in .new (next.go). The file with the highest number is the
// index; the next writer removes the others.
//
// Rejected: one fixed name, which the new file takes over. SQLite finds the log and the
// shared memory of a database by its name. A process that still has the old file open would
// share them with the new file, and a killed process could leave the log of one file next
// to the other, to be replayed into it.
var shardFile = regexp.MustCompile(`^shard-000(?:\.([1-9][0-9]{0,8}))?\.sqlite$`)

// unfinished is the suffix of a file that is not yet in place.
const unfinished = ".new"

func shardName(number int) string {
	if number == 1 {
		return "shard-000.sqlite"
	}
	return fmt.Sprintf("shard-000.%d.sqlite", number)
}

// shardNumber returns the number of an index file by its name, 0 for other files.
func shardNumber(name string) int {
	m := shardFile.FindStringSubmatch(name)
	switch {
	case m == nil:
		return 0
	case m[1] == "":
		return 1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}

// makeDir makes the directory of the index files.
func makeDir(dir string) error {
	err := os.MkdirAll(dir, 0o777)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("index: %w: %w", ErrNotDirectory, err)
	case err != nil:
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// currentNumber returns the highest number of a file in dir. It returns 0 if there is
// none, or if the directory cannot be listed: then checkFile returns the error.
func currentNumber(dir string) (highest int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		highest = max(highest, shardNumber(e.Name()))
	}
	return highest
}

// shardPath returns the path of the index in dir, or of the first file if there is none.
func shardPath(dir string) string { return filepath.Join(dir, shardName(max(1, currentNumber(dir)))) }

// logSuffixes are the suffixes of the files that SQLite keeps next to a database.
var logSuffixes = []string{"-wal", "-shm", "-journal"}

// databaseOf returns the name of the database that a file belongs to: its own name, unless it
// is a log.
func databaseOf(name string) string {
	for _, suffix := range logSuffixes {
		if database, ok := strings.CutSuffix(name, suffix); ok {
			return database
		}
	}
	return name
}

// removeDatabase removes a database and the files that SQLite keeps next to it. The
// database goes first: without its log, it would be read as an older state. A process killed
// in between leaves the log, which SQLite would replay into the next database of this name.
func removeDatabase(path string) error { return errors.Join(removeFile(path), removeLogs(path)) }

// removeLogs removes the files that SQLite keeps next to a database.
func removeLogs(path string) error {
	var errs []error
	for _, suffix := range logSuffixes {
		errs = append(errs, removeFile(path+suffix))
	}
	return errors.Join(errs...)
}

// removeFile removes a file. It is not an error if the file is missing.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeOthers removes index files that were replaced, those of unfinished rebuilds, and logs
// of either whose database is gone. The caller holds the writer's lock.
func removeOthers(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	highest := currentNumber(dir)
	var errs []error
	for _, e := range entries {
		database := databaseOf(e.Name())
		name, isNew := strings.CutSuffix(database, unfinished)
		if n := shardNumber(name); n > 0 && (isNew || n < highest) {
			errs = append(errs, removeDatabase(filepath.Join(dir, database)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("index: remove old files: %w", err)
	}
	return nil
}

// Replaced reports whether the index has to be opened again to see its newest state: another
// file has taken the place of the one that the reader opened, because a rebuild has ended or
// other files were put there, or a writer has changed a file that the reader reads alone. A
// reader answers from its own file while it has connections to it. While there is no file at
// all, Replaced returns false.
func (r *Reader) Replaced() bool { return r.otherFile() || r.alone && r.changed() }

// otherFile reports whether another file is where the file of the reader was.
func (r *Reader) otherFile() bool {
	now, err := os.Stat(shardPath(r.dir))
	return err == nil && !os.SameFile(r.file, now)
}

// changed reports whether a writer has opened or changed the file since the reader opened it.
func (r *Reader) changed() bool {
	now, err := os.Stat(r.path)
	return err == nil && (now.Size() != r.file.Size() || !now.ModTime().Equal(r.file.ModTime()) || !logIsEmpty(r.path))
}

// Exists reports whether there is an index in dir.
func Exists(dir string) bool { return currentNumber(dir) > 0 }

// SetAside renames a file that is where the index should be, and the logs that SQLite keeps
// next to it, because the user may still need them. It returns the new path.
//
// The logs get their new names first and lose the old ones last. So whichever name the
// database has when the process is killed, its logs are next to it. What is left of the old
// names then belongs to no database, and is removed before the next one gets that name.
func SetAside(dir string) (path string, err error) {
	from := shardPath(dir)
	for n := 1; path == "" || exists(path); n++ {
		path = fmt.Sprintf("%s.aside-%d", from, n)
	}
	for _, step := range []func() error{
		func() error { return removeLogs(path) }, // of a killed process
		func() error { return linkLogs(from, path) },
		func() error { return os.Rename(from, path) },
		func() error { return removeLogs(from) },
	} {
		if err := step(); err != nil {
			return "", fmt.Errorf("index: set %s aside: %w", from, err)
		}
	}
	return path, nil
}

// linkLogs gives the logs of a database second names.
func linkLogs(from, to string) error {
	for _, suffix := range logSuffixes {
		if suffix == "-shm" { // SQLite rebuilds it from the log
			continue
		}
		if err := os.Link(from+suffix, to+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w; if the file system has no hard links, move both files away yourself", err)
		}
	}
	return nil
}
