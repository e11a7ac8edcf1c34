package measure

import (
	"io/fs"
	"path/filepath"
	"sync"
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
	stop := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		ticker := time.NewTicker(memoryEvery)
		defer ticker.Stop()
		for {
			now := Resident()
			peak.Own, peak.Mapped = max(peak.Own, now.Own), max(peak.Mapped, now.Mapped)
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
		}
	})
	err = fn()
	close(stop)
	watch.Wait()
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
