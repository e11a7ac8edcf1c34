package opensearchtest

import (
	"os"
	"syscall"
)

// nobody is the user that the server runs as if the tests run as root, because it refuses to
// run as root.
const nobody = 65534

// attributes make the server a process group that ends with the tests, even if they are
// killed.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		a.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return a
}

// kill kills the server's script and the Java process that it has become.
func kill(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // it may have ended
}
