package repository_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/webindexer/indexer/repository"
)

// TestKilledInCheckpoint opens index files of a process that was killed while SQLite
// copied its log into the database, right after the first page: the header tells of
// pages that are in the log only. The log has everything.
func TestKilledInCheckpoint(t *testing.T) {
	dir, want := killed(t)
	file := filepath.Join(repository.IndexDir(dir), "shard-000.sqlite")
	page1 := newestInLog(t, file+"-wal", 1)
	db, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.WriteAt(page1, 0); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir, repository.Options{})
	defer closeNow(t, r)
	wantSound(t, r, want)
}

// newestInLog finds the newest content of a page in a write-ahead log
// (https://www.sqlite.org/fileformat2.html#walformat): a header of 32 bytes, and
// then frames, each a header of 24 bytes, which begins with the page's number, and
// a page.
func newestInLog(t *testing.T, file string, number uint32) (content []byte) {
	t.Helper()
	log, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(log) < 32 {
		t.Fatalf("%s has %d bytes: nothing is in the log", file, len(log))
	}
	size := int(binary.BigEndian.Uint32(log[8:]))
	for frames := log[32:]; len(frames) >= 24+size; frames = frames[24+size:] {
		if binary.BigEndian.Uint32(frames) == number {
			content = frames[24 : 24+size]
		}
	}
	if content == nil {
		t.Fatalf("page %d is not in %s", number, file)
	}
	return content
}
