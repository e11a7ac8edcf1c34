//go:build !unix

package txnbench

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
