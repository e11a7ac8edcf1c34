package store

import "bytes"

// PrefixEnd returns the first row, or column, after all that start with prefix; nil if there is
// none, which as the End of a Range means no bound.
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			end := bytes.Clone(prefix[:i+1])
			end[i]++
			return end
		}
	}
	return nil
}
