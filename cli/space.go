package cli

import (
	"fmt"
	"sync"

	"go.uber.org/zap"
)

// A crawl pauses when fewer than pauseBelow bytes are free on the disk, and continues at
// resumeAt. Both are above what the store keeps free (256 MiB), so that the crawl pauses
// before writes are refused. They differ so that the crawl does not start and stop while
// compactions use and release space.
const (
	pauseBelow = 512 << 20
	resumeAt   = 640 << 20
)

// spaceWatch decides whether a crawl has to pause. It is safe for concurrent use.
type spaceWatch struct {
	free func() (int64, error)
	log  *zap.Logger

	mu     sync.Mutex
	paused bool
	failed bool // the failure to read the free space was logged
}

func (s *session) watchSpace() *spaceWatch {
	w := &spaceWatch{free: s.app.freeBytes, log: s.app.log}
	if w.free == nil {
		w.free = s.repo.FreeBytes
	}
	return w
}

// pause returns why the crawl has to pause, or "". If the system does not report the free
// space, the crawl continues: the store refuses writes itself when the disk is full.
func (w *spaceWatch) pause() string {
	free, err := w.free()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		if !w.failed {
			w.log.Warn("the free disk space cannot be read, so the crawl will not pause when the disk is nearly full", zap.Error(err))
		}
		w.failed, w.paused = true, false
		return ""
	}
	w.paused = free < pauseBelow || w.paused && free < resumeAt
	if !w.paused {
		return ""
	}
	return fmt.Sprintf("only %d MiB are free on the disk; it continues at %d MiB", free>>20, resumeAt>>20)
}
