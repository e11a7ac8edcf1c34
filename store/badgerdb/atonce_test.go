package badgerdb

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/webindexer/indexer/store"
)

// TestOpenAtOnce opens a directory that is not there yet from several sides at once, as
// processes do that are started together: one of them gets it, the others hear that it is
// in use, and nothing else.
func TestOpenAtOnce(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		dir := filepath.Join(t.TempDir(), "some", "where")
		var wg sync.WaitGroup
		var mu sync.Mutex
		var got []*DB
		start := make(chan struct{})
		for range 4 {
			wg.Go(func() {
				<-start
				db, err := Open(dir, testGroups, Options{})
				if err != nil && !errors.Is(err, store.ErrInUse) {
					t.Errorf("Open: %v", err)
				}
				if err == nil {
					mu.Lock()
					got = append(got, db)
					mu.Unlock()
				}
			})
		}
		close(start)
		wg.Wait()
		if len(got) != 1 {
			t.Fatalf("%d got it", len(got))
		}
		closeTest(t, got[0])
		closeTest(t, openTest(t, dir, Options{}))
	}
}
