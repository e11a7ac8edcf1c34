//go:build linux && (amd64 || arm64)

package fault

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The handler in assembly reads these. It may run at any time, so they are written once,
// before it is installed.
var (
	execPath *byte   //lint:ignore U1000 read in assembly
	execArgv **byte  //lint:ignore U1000 read in assembly
	execEnv  **byte  //lint:ignore U1000 read in assembly
	nextPC   uintptr // the runtime's handler
)

// handlerPC is the address of the handler; set in assembly.
var handlerPC uintptr

// sigaction is the kernel's, on the systems that this file is for.
type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// Arm makes a fault of a mapped file start a program with the given arguments; the
// first is its name. Only the first call has an effect.
func Arm(path string, args, env []string) error {
	if nextPC != 0 {
		return nil
	}
	var err error
	if execPath, err = syscall.BytePtrFromString(path); err != nil {
		return fmt.Errorf("prepare for faults: %w", err)
	}
	argv, err := syscall.SlicePtrFromStrings(args)
	if err != nil {
		return fmt.Errorf("prepare for faults: %w", err)
	}
	envv, err := syscall.SlicePtrFromStrings(env)
	if err != nil {
		return fmt.Errorf("prepare for faults: %w", err)
	}
	execArgv, execEnv = &argv[0], &envv[0]
	var action sigaction
	if err := rtSigaction(nil, &action); err != nil {
		return err
	}
	nextPC = action.handler
	action.handler = handlerPC // with the runtime's flags: on the signal stack, no other signals
	return rtSigaction(&action, nil)
}

func rtSigaction(set, old *sigaction) error {
	const maskBytes = 8
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGBUS), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), maskBytes, 0, 0)
	if errno != 0 {
		return fmt.Errorf("prepare for faults: %w", errno)
	}
	return nil
}
