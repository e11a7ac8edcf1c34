package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// attributes of the server's processes: they end with the test, and are never root's.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if uid, gid, ok := unprivileged(); ok {
		a.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	return a
}

// chown gives a directory to the user that runs the server.
func chown(dir string) error {
	if uid, gid, ok := unprivileged(); ok {
		return os.Chown(dir, int(uid), int(gid))
	}
	return nil
}

// unprivileged is the user that runs the server if this process runs as root.
func unprivileged() (uid, gid uint32, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		id, err1 := strconv.ParseUint(u.Uid, 10, 32)
		group, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return uint32(id), uint32(group), true
		}
	}
	return 65534, 65534, true
}

// childrenOf lists the processes that a process has started.
func childrenOf(pid int) (pids []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}
