//go:build !linux

package pgtest

import "syscall"

// attributes of the server's processes. Root cannot run it here.
func attributes() *syscall.SysProcAttr { return nil }

func chown(string) error { return nil }

// childrenOf is empty: the server's processes notice that their parent is gone.
func childrenOf(int) []int { return nil }
