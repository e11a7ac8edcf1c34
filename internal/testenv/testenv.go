// Package testenv has what tests of all packages need of their surroundings: files next to a checkout,
// free addresses, and the variables that control tests from outside:
//
//	INDEXER_LONG=1   run at the sizes that take too long for every change
//	INDEXER_SEED=N   draw from this seed, which a failed test has printed
//	INDEXER_SEEDS=S  draw from seeds that follow from S and the name of the test; without
//	                 it, a test takes new seeds in each run
//
// .ci/run sets INDEXER_SEEDS to the hash of the tree: each change is tested with seeds of
// its own, and a second run of the same change draws the same ones.
package testenv

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Long reports whether long tests were asked for.
func Long() bool { return os.Getenv("INDEXER_LONG") != "" }

// Size returns how much a test does: little with -short, much with INDEXER_LONG=1, and
// usual otherwise.
func Size(short, usual, long int) int {
	switch {
	case Long():
		return long
	case testing.Short():
		return short
	}
	return usual
}

// FirstSeed returns INDEXER_SEED, or fallback without it, and whether it was set: a
// test that goes through seeds then runs that one alone.
func FirstSeed(t testing.TB, fallback uint64) (seed uint64, only bool) {
	t.Helper()
	s := os.Getenv("INDEXER_SEED")
	if s == "" {
		return fallback, false
	}
	seed, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("INDEXER_SEED: %v", err)
	}
	return seed, true
}

// Fresh returns a seed: a new one in each run, or the one that INDEXER_SEEDS gives to
// this test.
func Fresh(t testing.TB) uint64 {
	s := os.Getenv("INDEXER_SEEDS")
	if s == "" {
		return rand.Uint64()
	}
	sum := sha256.Sum256([]byte(s + "\x00" + t.Name()))
	return binary.BigEndian.Uint64(sum[:])
}

// Random returns a generator with a fresh seed, which is in the test's log.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	seed, _ := FirstSeed(t, Fresh(t))
	t.Logf("INDEXER_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Seeds yields n consecutive seeds, beginning with first, or INDEXER_SEED alone. It logs
// the seed at which a test fails. first is 0 if each run is to take the same seeds, and
// Fresh(t) if each is to take different ones.
func Seeds(t testing.TB, first, n uint64) iter.Seq[uint64] {
	t.Helper()
	first, only := FirstSeed(t, first)
	if only {
		n = 1
	}
	return func(yield func(uint64) bool) {
		seed, failed := first, t.Failed()
		defer func() { // after t.Fatal, too
			if t.Failed() && !failed {
				t.Logf("failed with INDEXER_SEED=%d", seed)
			}
		}()
		for i := uint64(0); i < n && (failed || !t.Failed()); i++ {
			seed = first + i
			if !yield(seed) {
				return
			}
		}
	}
}

// CloseAtEnd closes c when the test ends. An error fails the test.
func CloseAtEnd(t testing.TB, c io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// FreeAddress returns a loopback address on which nothing listens. Its port is below those that systems give to
// outgoing connections, one of which could take it before the caller does.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(22_000)))
		if err == nil {
			_ = l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no free address was found in 100 attempts")
	return ""
}

// Shared returns the path of a file in the directory ../shared, relative to the
// project's root, and skips the test if it is missing. root is the path from the test's
// package to the project's root: "..", "../..".
func Shared(t testing.TB, root, path string) string {
	t.Helper()
	full := filepath.Join(root, "..", "shared", path)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("skipped: %s is not beside this checkout", filepath.Join("../shared", path))
	}
	return full
}
