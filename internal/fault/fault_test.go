//go:build linux && (amd64 || arm64)

package fault

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	role     = "FAULT_TEST_ROLE"
	faultDir = "FAULT_TEST_DIR"
)

// TestMain is also the process that faults, and the program that it becomes.
func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "after":
		fmt.Println("started anew with", strings.Join(os.Args[1:], " "), "in process", os.Getpid())
		os.Exit(3)
	case "elsewhere": // a signal from another process is the runtime's
		arm()
		debug.SetTraceback("none")
		_ = syscall.Kill(os.Getpid(), syscall.SIGBUS)
		select {}
	}
	arm()
	page := mapped()
	done := make(chan struct{})
	go func() { page[0] = 1; close(done) }()
	<-done
	os.Exit(1) // it did not fault
}

func arm() {
	if err := Arm("/proc/self/exe", []string{"name", "after", "it"}, []string{role + "=after"}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// mapped is a page beyond the end of its file.
func mapped() []byte {
	f, err := os.Create(filepath.Join(os.Getenv(faultDir), "file"))
	if err == nil {
		err = f.Truncate(4096)
	}
	if err == nil {
		var page []byte
		if page, err = unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
			if err = f.Truncate(0); err == nil {
				return page
			}
		}
	}
	fmt.Println(err)
	os.Exit(1)
	return nil
}

func runRole(t *testing.T, as string) (out string, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+as, faultDir+"="+t.TempDir())
	text, _ := cmd.CombinedOutput() // the status says it
	return string(text), cmd
}

// TestFault: a fault in any goroutine starts the program anew in the same process.
func TestFault(t *testing.T) {
	out, cmd := runRole(t, "fault")
	if want := fmt.Sprintln("started anew with after it in process", cmd.Process.Pid); out != want || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("%v, and it said %q; want %q", cmd.ProcessState, out, want)
	}
}

// TestOtherSignals: a SIGBUS that does not come from a file goes to Go's runtime.
func TestOtherSignals(t *testing.T) {
	out, cmd := runRole(t, "elsewhere")
	if !strings.Contains(out, "SIGBUS") || cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("%v, and it said %q", cmd.ProcessState, out)
	}
}
