package cli

import (
	"fmt"
	"sync"

	"go.uber.org/zap"
)

// A crawl on a disk that is nearly full pauses below pauseBelow bytes and goes on
// from resumeAt. Both are above what the store keeps free (256 MiB), so that the
// crawl pauses before writes are refused. They are apart so that the crawl does not
// go on and off while compactions take room and give it back.
const (
	pauseBelow = 512 << 20
	resumeAt   = 640 << 20
)

// spaceWatch decides whether a crawl is to pause. It is safe for concurrent use.
type spaceWatch struct {
	free func() (int64, error)
	log  *zap.Logger

	mu     sync.Mutex
	paused bool
	failed bool // that the space is not known was logged
}

func (s *session) watchSpace() *spaceWatch {
	w := &spaceWatch{free: s.app.freeBytes, log: s.app.log}
	if w.free == nil {
		w.free = s.repo.FreeBytes
	}
	return w
}

// pause says why the crawl has to pause, "" if it has not. Where the system does not
// tell how much space there is the crawl goes on: the store refuses writes by itself
// when the disk is full.
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
