package render

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/webindexer/indexer/internal/osfile"
)

// profile is the directory in which a browser keeps its files. It is temporary, and removed
// when the browser has ended. If this process is killed, it stays, and its lock is released:
// the next browser of this user removes it.
//
// It is also the browser's TMPDIR: Chromium puts a socket there, and leaves it behind when it
// is killed. The path of a socket is limited, so a profile is in /tmp if the path of the
// directory for temporary files is too long.
type profile struct {
	dir  string
	lock *os.File
}

const (
	profilePattern = "indexer-browser-*"
	profileLock    = "indexer.lock"

	// longestTemp is the longest path that a directory of profiles may have, in bytes. The path
	// of a socket has at most 103 (macOS; Linux: 107), of which the name of a profile takes up to
	// 27, and /org.chromium.Chromium.XXXXXX/SingletonSocket 45.
	longestTemp = 103 - 27 - 45
)

func newProfile() (*profile, error) {
	removeAbandoned()
	for {
		dir, err := os.MkdirTemp(osfile.ShortTempDir(longestTemp), profilePattern)
		if err != nil {
			return nil, fmt.Errorf("make a directory for the browser's profile: %w", err)
		}
		lock, err := os.Create(filepath.Join(dir, profileLock))
		if err != nil {
			return nil, fmt.Errorf("make a directory for the browser's profile: %w", errors.Join(err, os.Remove(dir)))
		}
		// On a system without locks, abandoned profiles stay. Another process may take the lock
		// first, and remove the directory as abandoned. Then make another one.
		if osfile.Lock(lock) != osfile.Taken && osfile.IsNamed(lock) {
			return &profile{dir, lock}, nil
		}
		if err := lock.Close(); err != nil {
			return nil, err
		}
	}
}

// removeAbandoned removes profiles whose processes are gone. It leaves alone a profile that is
// still being made, which has no lock file yet, and one that cannot be removed.
func removeAbandoned() {
	dirs, err := filepath.Glob(filepath.Join(osfile.ShortTempDir(longestTemp), profilePattern))
	if err != nil {
		return // the name of the directory for temporary files is not a pattern
	}
	for _, dir := range dirs {
		lock, err := os.Open(filepath.Join(dir, profileLock))
		if err != nil {
			continue
		}
		if osfile.Lock(lock) == osfile.Held {
			_ = removeProfile(dir, os.RemoveAll) // another user's, or being removed by another process
		}
		_ = lock.Close() // it was only read
	}
}

// removeProfile removes a directory whose lock this process has, each part with removeAll. The
// lock file goes last: without it, what a killed process leaves would look like a profile that is
// still being made, and stay for ever.
func removeProfile(dir string, removeAll func(path string) error) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != profileLock {
			err = errors.Join(err, removeAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return removeAll(dir)
}

// remove removes the directory. A process of the browser may be writing for a moment after the
// browser has ended.
func (p *profile) remove() {
	for range 10 {
		if removeProfile(p.dir, os.RemoveAll) == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = p.lock.Close() // nothing was written
}
