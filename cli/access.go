package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The modes of a data directory. Of a shared one, what is made in it belongs to its
// group, whoever makes it.
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

// prepareAccess sees to who may use the data directory before anything is made in it,
// and makes it if create says so.
//
// The mode of the directory is what counts; all that this process makes from here on has
// no more rights than it, by the umask. That holds for the files of libraries, too, whose
// modes we do not choose. A directory without a store in it gets the mode of the settings.
// One with a store keeps its mode, for somebody may rely on it: earlier versions left
// theirs open to everybody, which is told. Only group_access opens what was closed.
func (a *app) prepareAccess(create bool) error {
	dir := a.cfg.Data
	if create {
		if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
			return fmt.Errorf("create the data directory: %w", err)
		}
		if err := os.Mkdir(dir, privateMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("create the data directory: %w", err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("inspect the data directory: %w", err)
	}
	mode := info.Mode()
	_, err = os.Stat(filepath.Join(dir, "store"))
	isNew := errors.Is(err, fs.ErrNotExist)
	opens := a.cfg.GroupAccess && mode&(fs.ModeSetgid|0o070) != sharedMode&(fs.ModeSetgid|0o070)
	if isNew || opens {
		if mode, err = a.changeMode(dir, mode, isNew); err != nil {
			return err
		}
	}
	if create && !isNew && mode&0o007 != 0 {
		_, _ = fmt.Fprintf(a.stderr, "every user of this machine may read %s (mode %04o), because an earlier version created it that way; `chmod -R go= %s` closes it\n", dir, mode.Perm(), dir)
	}
	setUmask(0o077 &^ mode.Perm())
	return nil
}

// changeMode gives the directory the mode of the settings. One that belongs to another
// user keeps its own, which that user has chosen.
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

// shareFiles lets the group have what is in a shared directory: files that were made
// before it was shared, and those that the store makes for their owner only. Files of
// other users have been seen to by them.
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

// ignoreMissing: the store removes files meanwhile, and some may be another user's.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// errDenied: the data directory is another user's.
var errDenied = errors.New("this user has no access to the data directory")

// denied says of an error that it is about rights, if it is.
func denied(err error) error {
	if errors.Is(err, fs.ErrPermission) && !errors.Is(err, errDenied) {
		return fmt.Errorf("%w: %w", errDenied, err)
	}
	return err
}

// madeIn is the mode for a directory that the user names: that of the data directory
// where it is inside, and any new directory's elsewhere.
func (a *app) madeIn(dir string) fs.FileMode {
	data, err := filepath.Abs(a.cfg.Data)
	if err != nil {
		return 0o777
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return 0o777
	}
	if rel, err := filepath.Rel(data, dir); err != nil || !filepath.IsLocal(rel) {
		return 0o777
	}
	return a.dirMode()
}
