//go:build !linux || !(amd64 || arm64)

package fault

// Arm leaves faults to the runtime.
func Arm(string, []string, []string) error { return nil }
