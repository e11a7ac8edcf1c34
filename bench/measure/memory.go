package measure

import (
	"io/fs"
	"path/filepath"
	"time"
)

// Memory is the resident memory of a process, in bytes.
type Memory struct {
	Own    int64 `json:"own_bytes"`    // without files
	Mapped int64 `json:"mapped_bytes"` // of files
}

// memoryEvery is how often the resident memory is sampled.
const memoryEvery = 50 * time.Millisecond

// PeakMemory calls fn and returns the most memory that was resident meanwhile. The two
// parts of it may be of different moments.
func PeakMemory(fn func() error) (peak Memory, err error) {
	stop := Every(memoryEvery, func() {
		now := resident()
		peak.Own, peak.Mapped = max(peak.Own, now.Own), max(peak.Mapped, now.Mapped)
	})
	err = fn()
	stop()
	return peak, err
}

// DiskBytes is the total length of the files under a directory.
func DiskBytes(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
