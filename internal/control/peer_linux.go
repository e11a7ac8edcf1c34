package control

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// peerProcess describes the process at the other end of a connection, as far as this
// process can see it: not across containers.
func peerProcess(conn net.Conn) (p Process) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return p
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return p
	}
	var cred *unix.Ucred
	if raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }) != nil || err != nil || cred.Pid <= 0 {
		return p
	}
	return processInfo(int(cred.Pid))
}

// processInfo reads what the kernel tells about a process.
func processInfo(id int) Process {
	p := Process{ID: id}
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id)); err == nil {
		p.Command = withoutPasswords(strings.ToValidUTF8(strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " "), ""))
	}
	const most = 200
	if r := []rune(p.Command); len(r) > most {
		p.Command = string(r[:most]) + "…"
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id)); err == nil {
		// The name, in parentheses, may contain anything; the state is the letter after it.
		state := bytes.TrimLeft(stat[bytes.LastIndexByte(stat, ')')+1:], " ")
		p.Stopped = len(state) > 0 && (state[0] == 'T' || state[0] == 't')
	}
	return p
}

var (
	passwordInURL   = regexp.MustCompile(`(://[^\s:@/]*):\S*@`) // up to the last "@", in case one is not encoded
	passwordInQuery = regexp.MustCompile(`([?&]\w*password=)[^\s&]*`)
)

// withoutPasswords removes the passwords of URLs, such as that of a store, from a command line. It is
// shown to people and written into logs, which last longer than the process.
func withoutPasswords(command string) string {
	return passwordInQuery.ReplaceAllString(passwordInURL.ReplaceAllString(command, "$1:xxxxx@"), "${1}xxxxx")
}
