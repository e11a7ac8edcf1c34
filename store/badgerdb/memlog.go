package badgerdb

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// Badger replays the logs of its memtables (*.mem) up to the first record that is
// not whole, and drops the rest: that is right for a write that was torn by a crash.
// It is wrong for a byte that flipped in the middle: all that was written after it
// would be gone, without a word. So before Badger opens a directory, its logs are
// read here, and a record that is broken, but not torn, is an error.
//
// Torn or broken? The file is made of zeros. A write that was cut short, by the end
// of the process or, page by page, of the machine, leaves zeros where it did not get
// to: from some byte to the end of that page, or a whole page. A record that is
// broken has no such gap between its beginning and the next whole record; or, if it
// is the last, it reaches up to its own checksum.
//
// What remains: a flip in the length of the very last record that makes it longer
// looks like a write that was cut short.

// The layout of badger v4: memtable.go (logFile), structs.go (header).
const (
	memLogHeader = 20 // key id, base IV
	memLogPage   = 4096
	memLogTxn    = 0xc0 // bits of meta: part, or end, of a transaction
	memLogKey    = 1 << 16
	memLogLook   = 32 << 20 // how far the next whole record is looked for
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkMemLogs reads all logs of a directory.
func checkMemLogs(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, badgerDir, "*.mem"))
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	for _, file := range files {
		at, err := brokenRecord(file)
		if err != nil {
			return fmt.Errorf("store: reading %s: %w", file, err)
		}
		if at > 0 {
			return corrupt(file, "the record at byte %d is broken, and there is more after it", at)
		}
	}
	return nil
}

// brokenRecord returns where the first broken record of a log is, 0 if there is none.
func brokenRecord(file string) (at int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if at, err = wholeRecords(f); err != nil {
		return 0, err
	}
	rest := make([]byte, memLogLook)
	n, err := f.ReadAt(rest[:2*memLogPage], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if tornAt(rest[:n], at) {
		return 0, nil // the end, or a write that was cut short
	}
	if n, err = f.ReadAt(rest, at); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	rest = bytes.TrimRight(rest[:n], "\x00")
	for p := 1; p < len(rest); p++ {
		if recordLen(rest[p:]) > 0 {
			if gap(rest[:p], at) {
				return 0, nil
			}
			return at, nil
		}
	}
	if n, ok := claimedLen(rest); ok && n <= len(rest) && !gap(rest, at) {
		return at, nil // the last one, up to its checksum
	}
	return 0, nil
}

// wholeRecords returns where the first record is that is not whole.
func wholeRecords(f *os.File) (at int64, err error) {
	at = memLogHeader
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		head, err := r.Peek(32)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		n, ok := claimedLen(head)
		if !ok {
			return at, nil
		}
		record := head
		if n <= r.Size() {
			record, err = r.Peek(n)
		} else {
			record = make([]byte, n)
			_, err = f.ReadAt(record, at)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if len(record) < n || recordLen(record) != n {
			return at, nil
		}
		if _, err := r.Discard(n); err != nil {
			return 0, err
		}
		at += int64(n)
	}
}

// claimedLen is how long a record says that it is, with its checksum.
func claimedLen(b []byte) (n int, ok bool) {
	if len(b) < 6 || b[0]&memLogTxn == 0 {
		return 0, false
	}
	at := 2
	var parts [3]uint64 // length of the key, of the value, expiry
	for i := range parts {
		v, used := binary.Uvarint(b[at:])
		if used <= 0 {
			return 0, false
		}
		parts[i] = v
		at += used
	}
	if parts[0] == 0 || parts[0] > memLogKey || parts[1] > 2*memTableBytes {
		return 0, false
	}
	return at + int(parts[0]) + int(parts[1]) + crc32.Size, true
}

// recordLen is the length of the whole record that b begins with, 0 for none.
func recordLen(b []byte) int {
	n, ok := claimedLen(b)
	if !ok || n > len(b) {
		return 0
	}
	sum := binary.BigEndian.Uint32(b[n-crc32.Size:])
	if crc32.Checksum(b[:n-crc32.Size], castagnoli) != sum {
		return 0
	}
	return n
}

// tornAt says that b, which begins at a byte of the file, begins with zeros up to
// the end of a page.
func tornAt(b []byte, at int64) bool {
	end := memLogPage - int(at%memLogPage)
	if end < 16 {
		end += memLogPage
	}
	return len(bytes.TrimLeft(b[:min(end, len(b))], "\x00")) == 0
}

// gap says that some page, as far as it is in b, ends with zeros.
func gap(b []byte, at int64) bool {
	for i := memLogPage - int(at%memLogPage); i <= len(b); i += memLogPage {
		if i >= 16 && len(bytes.TrimLeft(b[i-16:i], "\x00")) == 0 {
			return true
		}
	}
	return false
}
