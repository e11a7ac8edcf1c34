package badgerdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// Badger counts in the file DISCARD how much of each file of the value log is waste. It
// has no checksum, and Badger believes every byte: a file that was cut makes it write
// beyond its end, and an impossible file number makes it search for a file to collect for
// ever, with the value log locked. The counts only choose what is collected, so a file
// that cannot be right is removed; compactions count again from there.
//
// The layout of badger v4 (discard.go): slots of a file number and a count, 8 bytes each,
// big-endian, up to a file number of 0.
const (
	discardBytes = 1 << 20 // at least
	discardSlot  = 16
)

// checkDiscard removes the counts of waste if they are damaged, and says so.
func checkDiscard(dir string, log Logger) error {
	file := filepath.Join(badgerDir(dir), "DISCARD")
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("store: %w", err)
	case plausibleDiscard(b):
		return nil
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("store: remove damaged counts: %w", err)
	}
	log.Warnf("%s was damaged and is made anew; it only counts how much of the value log is waste", file)
	return nil
}

func plausibleDiscard(b []byte) bool {
	if len(b) == 0 {
		return true // it was being made
	}
	if len(b) < discardBytes || len(b)%discardSlot != 0 {
		return false
	}
	seen := map[uint64]bool{}
	for ; len(b) > 0; b = b[discardSlot:] {
		id, waste := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
		if id == 0 {
			return true
		}
		if id > math.MaxUint32 || waste > math.MaxInt64 || seen[id] {
			return false
		}
		seen[id] = true
	}
	return false // no end
}
