//go:build unix

package badgerdb

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// identityOf is what the file system says of a file.
func identityOf(file string) (identity, error) {
	var st unix.Stat_t
	if err := unix.Stat(file, &st); err != nil {
		return identity{}, &fs.PathError{Op: "stat", Path: file, Err: err}
	}
	return identity{size: st.Size, modified: st.Mtim.Nano(), changed: st.Ctim.Nano(), inode: uint64(st.Ino)}, nil
}
