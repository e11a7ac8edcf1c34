package badgerdb

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
)

// Badger replays the logs of its memtables (*.mem) up to the first record that is
// not whole, and drops the rest: that is right for a write that was torn by a crash.
// It is wrong for a byte that flipped in the middle: all that was written after it
// would be gone, without a word. So before Badger opens a directory, its logs are
// read here, and a record that is broken, but not torn, is an error.
//
// Torn or broken? The file is made of zeros. A write that was cut short, by the end
// of the process or, page by page, of the machine, leaves zeros where it did not
// arrive: from some byte to the end of that page, or a whole page. A record that is
// broken has no such gap between its beginning and the next whole record; or, if it is
// the last, it reaches up to its own checksum.
//
// The bytes alone cannot tell everything: a log that was cut at the end of a record, or
// removed, looks as if nothing more had been written. How much there was is in the high-water
// mark (mark.go), so the bytes are asked only where the mark may be ahead of the disk: after
// a lost machine, and in a table of a time before there was one.

// The layout of badger v4: memtable.go (logFile), structs.go (header).
const (
	memLogSuffix = ".mem"
	memLogHeader = 20 // key id, base IV
	memLogPage   = 4096
	memLogTxn    = 0xc0 // bits of meta: part, or end, of a transaction
	memLogEnd    = 0x80
	memLogKey    = 1 << 16
	memLogLook   = 32 << 20 // how far the next whole record is looked for
)

// memLog is what the log of one memtable holds.
type memLog struct {
	file        string
	number      int
	first, last uint64 // groups that are whole, 0 for none
	entries     int    // that Badger replays; those that its value log's collector moved have no group
	stop        int64  // where the first record is that is not whole
	skips       bool   // a group is missing between first and last

	each func(at int64, record []byte) // called for each whole record; may be nil
}

// readMemLogs reads all logs of a directory, in the order in which they were written.
func readMemLogs(dir string) ([]*memLog, error) {
	files, err := dirfile.Matching(filepath.Join(dir, dirfile.Badger), "*"+memLogSuffix)
	if err != nil {
		return nil, err
	}
	var logs []*memLog
	for _, file := range files {
		l := &memLog{file: file}
		if l.number, err = strconv.Atoi(strings.TrimSuffix(filepath.Base(file), memLogSuffix)); err != nil {
			return nil, errs.Corrupt(file, "its name is not that of a log")
		}
		if err := l.read(); err != nil {
			return nil, fmt.Errorf("store: reading %s: %w", file, err)
		}
		logs = append(logs, l)
	}
	slices.SortFunc(logs, func(a, b *memLog) int { return cmp.Compare(a.number, b.number) })
	return logs, nil
}

// checkTorn reports whether the log ends like one that a crash has cut short. It serves
// where nothing else tells how long the log was.
func (l *memLog) checkTorn() error {
	f, err := os.Open(l.file)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer f.Close()
	broken, err := l.brokenRecord(f)
	if err != nil {
		return fmt.Errorf("store: reading %s: %w", l.file, err)
	}
	if broken {
		return errs.Corrupt(l.file, "the record at byte %d is broken, and there is more after it", l.stop)
	}
	return nil
}

// brokenRecord says whether the first record that is not whole is broken, not torn.
func (l *memLog) brokenRecord(f *os.File) (bool, error) {
	rest := make([]byte, memLogLook)
	n, err := f.ReadAt(rest[:2*memLogPage], l.stop)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if isTornAt(rest[:n], l.stop) {
		return false, nil // the end, or a write that was cut short
	}
	if n, err = f.ReadAt(rest, l.stop); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	rest = bytes.TrimRight(rest[:n], "\x00")
	for p := 1; p < len(rest); p++ {
		if recordLen(rest[p:]) > 0 {
			return !hasGap(rest[:p], l.stop), nil
		}
	}
	n, ok := claimedLen(rest)
	return ok && n <= len(rest) && !hasGap(rest, l.stop), nil // the last one, up to its checksum
}

// read goes through the records that are whole, as Badger does when it replays them: the
// entries of a group count once its end is there.
func (l *memLog) read() error {
	f, err := os.Open(l.file)
	if err != nil {
		return err
	}
	defer f.Close()
	l.stop = memLogHeader
	if _, err := f.Seek(l.stop, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(f, 1<<20)
	var group memGroup
	for {
		head, err := r.Peek(32)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		n, ok := claimedLen(head)
		if !ok {
			return nil
		}
		record := head
		if n <= r.Size() {
			record, err = r.Peek(n)
		} else {
			record = make([]byte, n)
			_, err = f.ReadAt(record, l.stop)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(record) < n || recordLen(record) != n || !l.count(&group, record) {
			return nil
		}
		if l.each != nil {
			l.each(l.stop, record)
		}
		if _, err := r.Discard(n); err != nil {
			return err
		}
		l.stop += int64(n)
	}
}

// memGroup is a group whose end was not read yet.
type memGroup struct {
	version uint64
	entries int
}

// count adds a record to the contents of the log, unless Badger would stop at it.
func (l *memLog) count(g *memGroup, record []byte) bool {
	version := recordVersion(record)
	switch meta := record[0]; {
	case meta&memLogTxn == 0:
		l.entries++
		return g.entries == 0
	case meta&memLogEnd == 0:
		if g.entries > 0 && version != g.version {
			return false
		}
		g.version = version
		g.entries++
		return true
	case version != g.version || g.entries == 0:
		return false
	}
	l.entries += g.entries
	if l.first == 0 {
		l.first = version
	} else if version != l.last+1 {
		l.skips = true
	}
	l.last = version
	*g = memGroup{}
	return true
}

// recordHead is what stands before the key of a record.
type recordHead struct {
	length                 int // of the head itself
	key, value, expiration uint64
}

// parseHead reads the head of a record: two bytes (meta bits), the lengths of the key and of the
// value, and the time at which the value expires.
func parseHead(b []byte) (h recordHead, ok bool) {
	h.length = 2
	for _, field := range []*uint64{&h.key, &h.value, &h.expiration} {
		v, used := binary.Uvarint(b[min(h.length, len(b)):])
		if used <= 0 {
			return h, false
		}
		*field = v
		h.length += used
	}
	return h, true
}

// recordVersion is the number of the group of a whole record. Badger appends it to the
// key, inverted.
func recordVersion(b []byte) uint64 {
	h, _ := parseHead(b)
	key := b[h.length : h.length+int(h.key)]
	if len(key) < tsBytes {
		return 0
	}
	return ^binary.BigEndian.Uint64(key[len(key)-tsBytes:])
}

// recordValue is the value of a whole record.
func recordValue(b []byte) []byte {
	h, _ := parseHead(b)
	return b[h.length+int(h.key) : len(b)-crc32.Size]
}

// claimedLen is how long a record says that it is, with its checksum.
func claimedLen(b []byte) (n int, ok bool) {
	if len(b) < 6 {
		return 0, false
	}
	h, ok := parseHead(b)
	if !ok || h.key == 0 || h.key > memLogKey || h.value > 2*mostMemTable {
		return 0, false
	}
	return h.length + int(h.key) + int(h.value) + crc32.Size, true
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

// isTornAt reports whether b, which begins at a byte of the file, begins with zeros up to
// the end of a page.
func isTornAt(b []byte, at int64) bool {
	end := memLogPage - int(at%memLogPage)
	if end < 16 {
		end += memLogPage
	}
	return len(bytes.TrimLeft(b[:min(end, len(b))], "\x00")) == 0
}

// hasGap reports whether the part of some page in b ends with zeros.
func hasGap(b []byte, at int64) bool {
	for i := memLogPage - int(at%memLogPage); i <= len(b); i += memLogPage {
		if i >= 16 && len(bytes.TrimLeft(b[i-16:i], "\x00")) == 0 {
			return true
		}
	}
	return false
}
