package cli

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/webindexer/indexer/internal/osfile"
	"github.com/webindexer/indexer/internal/sleep"
)

// A command that loads waits for the data directory while commands that only read hold it,
// one after the other. Nothing orders them: a script that asks questions in a loop could
// keep a replay out until it gave up. So a waiting loader locks a file in the directory, and
// a command that only reads lets it go first. The kernel drops the lock with the process, so
// a killed loader keeps no command waiting. On a system without such locks loaders announce
// nothing, and chance decides.

// waitingName is the file that a waiting loader locks.
const waitingName = ".loader-waiting"

// yieldFor bounds the courtesy: a loader takes a free directory within its pause between
// two attempts, and one that waits for a server to drain should not hold up questions.
const yieldFor = 250 * time.Millisecond

// announcement is the lock of a waiting loader.
type announcement struct{ file *os.File }

// renew locks the file if that has not succeeded yet. It fails where the directory does not
// exist, and for a moment while another process looks.
func (w *announcement) renew(dir string) {
	if w.file != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(dir, waitingName), os.O_CREATE|os.O_RDWR, 0o666) // less the umask, as all files there
	if err != nil {
		return // a new directory: nothing to wait for
	}
	if osfile.Lock(f) != osfile.Held {
		_ = f.Close() // nothing was written
		return
	}
	w.file = f
}

// end unlocks the file.
func (w *announcement) end() {
	if w.file != nil {
		_ = w.file.Close() // nothing was written
		w.file = nil
	}
}

// yieldToLoader waits a moment while a loader waits for the data directory.
func (a *app) yieldToLoader(ctx context.Context) {
	for until := time.Now().Add(yieldFor); time.Now().Before(until) && loaderWaits(a.cfg.Data); {
		if sleep.For(ctx, 5*time.Millisecond) != nil {
			return
		}
	}
}

func loaderWaits(dir string) bool { return osfile.IsTaken(filepath.Join(dir, waitingName)) }
