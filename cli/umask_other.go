//go:build !unix

package cli

import "io/fs"

// setUmask does nothing: rights are inherited from directories here.
func setUmask(fs.FileMode) {}
