package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/webindexer/indexer/internal/osfile"
	"github.com/webindexer/indexer/repository"
)

// The modes of a data directory. New files in a shared one belong to its group, whichever
// user creates them.
const (
	privateMode = fs.FileMode(0o700)
	sharedMode  = fs.ModeSetgid | 0o770
)

func (a *app) dirMode() fs.FileMode {
	if a.cfg.GroupAccess {
		return sharedMode
	}
	return privateMode
}

// prepareAccess sets the access rights of the data directory before anything is created in
// it. With create, it creates the directory; without it, there may be none.
//
// The mode of the directory decides. The umask keeps this process from creating files with
// more rights than the directory has, including the files of libraries, whose modes we do
// not choose. A directory without a store gets the mode of the settings. A directory with a
// store keeps its mode, because someone may rely on it: earlier versions left theirs open
// to everyone, which is reported. Only group_access adds rights to an existing store.
func (a *app) prepareAccess(create bool) error {
	dir := a.cfg.Data
	if create {
		if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
			return fmt.Errorf("%w: %w", errNotCreated, err)
		}
		if err := os.Mkdir(dir, privateMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%w: %w", errNotCreated, err)
		}
	}
	info, err := os.Stat(dir)
	switch {
	case !create && errors.Is(err, fs.ErrNotExist):
		osfile.SetUmask(0o077 &^ a.dirMode().Perm())
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is a link to a directory that does not exist", errNotCreated, dir)
	case err != nil:
		return fmt.Errorf("inspect the data directory: %w", err)
	}
	mode := info.Mode()
	_, err = os.Stat(repository.StoreDir(dir))
	isNew := errors.Is(err, fs.ErrNotExist)
	opens := a.cfg.GroupAccess && mode&(fs.ModeSetgid|0o070) != sharedMode&(fs.ModeSetgid|0o070)
	if isNew || opens {
		if mode, err = a.changeMode(dir, mode, isNew); err != nil {
			return err
		}
	}
	if create && !isNew && mode&0o007 != 0 {
		_, _ = fmt.Fprintf(a.stderr, "every user of this machine may read %s (mode %04o), because an earlier version created it that way; `chmod -R go= %s` closes it\n", dir, mode.Perm(), shellWord(dir))
	}
	osfile.SetUmask(0o077 &^ mode.Perm())
	return nil
}

// changeMode gives the directory the mode of the settings. A directory that belongs to
// another user keeps the mode that this user has chosen.
func (a *app) changeMode(dir string, mode fs.FileMode, isNew bool) (fs.FileMode, error) {
	want := a.dirMode()
	if !isNew {
		want |= mode & 0o007
	}
	err := os.Chmod(dir, want)
	if errors.Is(err, fs.ErrPermission) {
		a.log.Warn(fmt.Sprintf("%s belongs to another user and keeps its mode, %04o", dir, mode.Perm()))
		return mode, nil
	}
	if err != nil {
		return mode, fmt.Errorf("set the mode of the data directory: %w", err)
	}
	return want, nil
}

// shareFiles opens the files of a shared directory to its group: files that are older than
// group_access, and files that the store creates for their owner only. The files of other
// users have been opened by their own processes.
func (a *app) shareFiles() error {
	if !a.cfg.GroupAccess {
		return nil
	}
	return filepath.WalkDir(a.cfg.Data, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return ignoreMissing(err)
		}
		info, err := e.Info()
		if err != nil {
			return ignoreMissing(err)
		}
		want := info.Mode().Perm() | 0o060
		switch {
		case e.IsDir():
			want = info.Mode().Perm() | sharedMode
		case !info.Mode().IsRegular():
			return nil
		}
		if info.Mode()&(fs.ModeSetgid|fs.ModePerm) == want {
			return nil
		}
		return ignoreMissing(os.Chmod(path, want))
	})
}

// ignoreMissing drops the errors of files that the store has removed meanwhile and of
// files that belong to other users.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// errDenied says that the data directory belongs to another user.
var errDenied = errors.New("this user has no access to the data directory")

// errNotCreated says that there is no data directory and that it could not be made.
var errNotCreated = errors.New("create the data directory")

// denied wraps an error about access to the data directory with errDenied.
func denied(err error) error {
	if errors.Is(err, fs.ErrPermission) && !errors.Is(err, errDenied) && !errors.Is(err, errNotCreated) {
		return fmt.Errorf("%w: %w", errDenied, err)
	}
	return err
}

// madeIn returns the mode for a directory that the user names: the mode of the data
// directory if it is inside it, and the usual mode of new directories elsewhere.
func (a *app) madeIn(dir string) fs.FileMode {
	if a.nameInData(dir) == "" {
		return 0o777
	}
	return a.dirMode()
}

// nameInData returns the name in the data directory under which a path is: "." for the
// directory itself, "" for a path elsewhere.
func (a *app) nameInData(path string) string {
	data, err := filepath.Abs(a.cfg.Data)
	if err != nil || path == "" {
		return ""
	}
	if path, err = filepath.Abs(path); err != nil {
		return ""
	}
	rel, err := filepath.Rel(data, path)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	name, _, _ := strings.Cut(rel, string(filepath.Separator))
	return name
}

// checkDataDir checks whether a directory is a data directory before anything is written
// to it, so that a mistyped --data does not put our files among someone's documents.
// Packages store and index check the contents of their own directories. The name archive may
// be there without a store: this command, or one that was killed, has made it for WARC files.
func checkDataDir(dir string, create bool, archive string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries = nil
	case err != nil:
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return fmt.Errorf("%w: %s is a file", errForeign, dir)
		}
		if errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("%w: %s: a part of this path is a file", errForeign, dir)
		}
		return denied(fmt.Errorf("list the data directory: %w", err))
	}
	foreign := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "store":
			return nil
		case name != archive && name != "index" && name != "index.mark" && name != "lost+found" && !strings.HasPrefix(name, "."):
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
