package badgerdb

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
)

// Badger writes its logs through memory maps of sparse files. When the disk is full, such
// a write does not return an error. It raises SIGBUS, which ends the process. Nothing
// that was acknowledged is lost, but the user should see "no space left" and not a crash.
// So the committer asks the file system for its free space before it writes, and leaves
// some of it unused.
//
// It also asks whether files can be created in the directory at all. If the directory is
// read-only or gone, Badger cannot write out what is in memory, and blocks writers forever.

// Between two checks, at most spaceCheckBytes are written and spaceCheckTime passes.
const (
	spaceCheckBytes = 1 << 20
	spaceCheckTime  = time.Second
)

type spaceGuard struct {
	dir       string
	place     *place // nil for a directory that is not open
	minFree   int64
	sinceLook int
	looked    time.Time
}

func newSpaceGuard(dir string, minFree int64) *spaceGuard {
	if minFree == 0 {
		minFree = DefaultMinFreeBytes
	}
	return &spaceGuard{dir: dir, minFree: minFree, sinceLook: spaceCheckBytes}
}

// admit is called before n bytes are written. It returns an error if they must not be.
func (g *spaceGuard) admit(n int) error {
	if g.minFree < 0 {
		return nil
	}
	g.sinceLook += n
	if g.sinceLook < spaceCheckBytes && time.Since(g.looked) < spaceCheckTime {
		return nil
	}
	err := system.Writable(g.dir)
	if err == nil && g.place != nil {
		err = g.place.check()
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", store.ErrUnwritable, g.dir, err)
	}
	free, err := system.FreeBytes(g.dir)
	if err != nil {
		return fmt.Errorf("store: asking for the free space of %s: %w", g.dir, err)
	}
	if free < g.minFree+int64(n) {
		return fmt.Errorf("%w: %d MiB free at %s, and %d MiB are kept free: make room and try again", store.ErrNoSpace, free>>20, g.dir, g.minFree>>20)
	}
	g.sinceLook, g.looked = 0, time.Now()
	return nil
}

// existingParent returns dir, or the nearest directory above it that exists.
func existingParent(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}

// FreeBytes returns how many bytes may still be written to the disk of a directory, which need not
// exist yet.
func FreeBytes(dir string) (int64, error) { return system.FreeBytes(existingParent(dir)) }

// faultError turns a fault of mapped memory into an error: the disk is full, the file was
// truncated, or the disk has failed.
func faultError(file string, fault any) error {
	if free, err := system.FreeBytes(filepath.Dir(file)); err == nil && free < spaceCheckBytes {
		return fmt.Errorf("%w: writing %s", store.ErrNoSpace, file)
	}
	return fmt.Errorf("store: writing %s: %v", file, fault)
}
