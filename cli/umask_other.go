//go:build !unix

package cli

import "io/fs"

// setUmask does nothing: on this system, files inherit their rights from directories.
func setUmask(fs.FileMode) {}
