package repository_test

import (
	"sync"
	"testing"
)

// fixture is a data directory that several tests begin with. The first one makes it, and each
// gets a copy.
type fixture struct {
	once   sync.Once
	image  dataImage
	digest string
}

// copy returns a copy of what build makes in an empty directory, and the digest that build returns.
func (f *fixture) copy(t *testing.T, build func(dir string) (digest string)) (dir, digest string) {
	t.Helper()
	f.once.Do(func() {
		dir := t.TempDir()
		f.digest = build(dir)
		f.image = readDataImage(t, dir)
	})
	if f.digest == "" {
		t.Fatal("the directory could not be made; see the first test that has failed")
	}
	dir = t.TempDir()
	f.image.write(t, dir)
	return dir, f.digest
}
