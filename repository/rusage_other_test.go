//go:build !unix

package repository_test

import "os"

func maxRSS(*os.ProcessState) int64 { return 0 }
