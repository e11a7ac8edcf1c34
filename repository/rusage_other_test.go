//go:build !unix

package repository_test

import (
	"os"
	"testing"
	"time"
)

func maxRSS(*os.ProcessState) int64 { return 0 }

func processorTime(t testing.TB) time.Duration {
	t.Skip("the processor time of a process is only known on Unix")
	return 0
}
