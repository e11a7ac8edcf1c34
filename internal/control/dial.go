package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/webindexer/indexer/internal/osfile"
)

// socketName is the name of the socket in a data directory.
const socketName = "control.sock"

// maxAddress is the longest path that is used as an address directly. Linux allows 107
// bytes, macOS 103.
const maxAddress = 100

// longestTemp is the longest path, in bytes, that the directory of a symbolic link may have.
// "/indexer-4294967295/d/" and the name of the socket follow.
const longestTemp = maxAddress - 22 - len(socketName)

// atShortPath calls use with a path to dir/name that fits into an address: the path
// itself or, if that is too long, a path through a symbolic link that exists during the
// call.
func atShortPath(dir, name string, use func(path string) error) error {
	if path := filepath.Join(dir, name); len(path) <= maxAddress {
		return use(path)
	}
	target, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp(osfile.ShortTempDir(longestTemp), "indexer-")
	if err != nil {
		return fmt.Errorf("create a short path to %s: %w", dir, err)
	}
	link := filepath.Join(temp, "d")
	defer func() { _ = os.RemoveAll(temp) }() // a link and its directory: harmless if they remain
	if err := os.Symlink(target, link); err != nil {
		return fmt.Errorf("create a short path to %s: %w", dir, err)
	}
	return use(filepath.Join(link, name))
}

// dial connects to the server of a data directory.
func dial(ctx context.Context, dir string) (conn net.Conn, err error) {
	err = atShortPath(dir, socketName, func(path string) error {
		conn, err = new(net.Dialer).DialContext(ctx, "unix", path)
		return err
	})
	return conn, err
}

// listen creates the socket of a data directory and keeps invariant 2 of the package.
func listen(dir string) (*net.UnixListener, error) {
	if err := removeLeftovers(dir); err != nil {
		return nil, err
	}
	private, err := os.MkdirTemp(dir, privatePrefix)
	if err != nil {
		return nil, err
	}
	l, err := listenIn(private, filepath.Join(dir, socketName))
	return l, errors.Join(err, os.RemoveAll(private))
}

func listenIn(private, final string) (l *net.UnixListener, err error) {
	err = atShortPath(private, "s", func(path string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil {
			l.SetUnlinkOnClose(false) // it would remove the name under which the socket was created
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	made := filepath.Join(private, "s")
	if err := errors.Join(os.Chmod(made, socketMode(filepath.Dir(final))), os.Rename(made, final)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// socketMode lets the group connect if it may write to the data directory.
func socketMode(dir string) os.FileMode {
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o020 != 0 {
		return 0o660
	}
	return 0o600
}

// privatePrefix is the prefix of directories in which a socket is created.
const privatePrefix = ".control-"

// removeLeftovers removes the directories of processes that were killed while they
// created their sockets.
func removeLeftovers(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), privatePrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
