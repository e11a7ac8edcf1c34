package cli

import (
	"fmt"
	"math"
	"sync"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/store/badgerdb"
)

// A crawl pauses when fewer than pauseBelow bytes are free on a disk that it writes to, and
// continues at resumeAt. Both are above what the store keeps free (256 MiB), so that the crawl
// pauses before writes are refused. They differ so that the crawl does not start and stop while
// compactions use and release space.
const (
	pauseBelow = 512 << 20
	resumeAt   = 640 << 20
)

// spaceWatch decides whether a crawl has to pause. It is safe for concurrent use.
type spaceWatch struct {
	disks []disk
	log   *zap.Logger

	mu     sync.Mutex
	paused bool
	failed bool // a failure to read the free space was logged
}

// disk is where a directory is.
type disk struct {
	dir  string
	free func() (int64, error)
}

// watchSpace watches the disks of the repository and of the archive, which may be the same.
func (s *session) watchSpace() *spaceWatch {
	data := disk{s.app.cfg.Data, s.app.freeBytes}
	if data.free == nil {
		data.free = s.repo.FreeBytes
	}
	w := &spaceWatch{disks: []disk{data}, log: s.app.log}
	if dir := s.app.archive; dir != "" {
		w.disks = append(w.disks, disk{dir, func() (int64, error) { return badgerdb.FreeBytes(dir) }})
	}
	return w
}

// pause returns why the crawl has to pause, or "". A disk whose free space the system does not
// report pauses nothing: the store refuses writes itself when its disk is full.
func (w *spaceWatch) pause() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	least, at := int64(math.MaxInt64), ""
	for _, d := range w.disks {
		free, err := d.free()
		switch {
		case err == nil && free < least:
			least, at = free, d.dir
		case err != nil && !w.failed:
			w.log.Warn("the free disk space cannot be read, so the crawl will not pause when the disk is nearly full", zap.String("dir", d.dir), zap.Error(err))
			w.failed = true
		}
	}
	w.paused = least < pauseBelow || w.paused && least < resumeAt
	if !w.paused {
		return ""
	}
	return fmt.Sprintf("only %d MiB are free on the disk of %s; it continues at %d MiB", least>>20, at, resumeAt>>20)
}
