// Package memlog reads the logs of Badger's memtables.
//
// Badger replays the logs of its memtables (*.mem) up to the first record that is
// not whole, and drops the rest: that is right for a write that was torn by a crash.
// It is wrong for a byte that flipped in the middle: all that was written after it would
// be silently lost. So the logs are read before Badger opens a directory, and a record
// that is broken, but not torn, is an error.
//
// Torn or broken? The file is made of zeros. A write that was cut short, by the end
// of the process or, page by page, of the machine, leaves zeros where it did not
// arrive: from some byte to the end of that page, or a whole page. A record that is
// broken has no such gap between its beginning and the next whole record; or, if it is
// the last, it reaches up to its own checksum.
//
// The bytes alone cannot tell everything: a log that was cut at the end of a record, or
// removed, looks as if nothing more had been written. A table that has recorded how much
// there was does not depend on them.
package memlog

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

// The layout of badger v4: memtable.go (logFile), structs.go (header).
const (
	// Suffix ends the name of a log.
	Suffix = ".mem"
	// HeaderBytes is the length of what a log, of memtables or of values, begins with.
	HeaderBytes = 20 // key id, base IV
	// MemTableMost is the size of the largest memtable that any version of the program had.
	MemTableMost = 64 << 20

	page        = 4096
	txnBits     = 0xc0 // bits of meta: part, or end, of a transaction
	endBit      = 0x80
	userMeta    = 0 // the second byte of each record: no version of the program sets bits there
	keyMost     = 1 << 16
	numberBytes = 8 // bytes of the number of a group, after a key
	valueMost   = 2 * MemTableMost
	lookBytes   = 32 << 20 // how far the next whole record is looked for
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Log is what the log of one memtable holds. Its writes are in groups, which are numbered.
type Log struct {
	File        string
	Number      int
	First, Last uint64 // groups that are whole, 0 for none
	Entries     int    // that Badger replays; those that its value log's collector moved have no group
	Stop        int64  // where the first record begins that is not whole
	Skips       bool   // a group is missing between First and Last
}

// ReadAll reads all logs of a directory, in the order in which they were written.
func ReadAll(dir string) ([]*Log, error) {
	files, err := dirfile.Matching(filepath.Join(dir, dirfile.Badger), "*"+Suffix)
	if err != nil {
		return nil, err
	}
	var logs []*Log
	for _, file := range files {
		l := &Log{File: file}
		if l.Number, err = strconv.Atoi(strings.TrimSuffix(filepath.Base(file), Suffix)); err != nil {
			return nil, errs.Corrupt(file, "its name is not that of a log")
		}
		if err := l.read(nil); err != nil {
			return nil, fmt.Errorf("store: reading %s: %w", file, err)
		}
		logs = append(logs, l)
	}
	slices.SortFunc(logs, func(a, b *Log) int { return cmp.Compare(a.Number, b.Number) })
	return logs, nil
}

// CheckTorn reports whether the log ends like one that a crash has cut short. It serves
// where nothing else tells how long the log was.
func (l *Log) CheckTorn() error {
	f, err := os.Open(l.File)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer f.Close()
	broken, err := l.brokenRecord(f)
	if err != nil {
		return fmt.Errorf("store: reading %s: %w", l.File, err)
	}
	if broken {
		return errs.Corrupt(l.File, "the record at byte %d is broken, and there is more after it", l.Stop)
	}
	return nil
}

// brokenRecord reports whether the first record that is not whole is broken, not torn.
func (l *Log) brokenRecord(f *os.File) (bool, error) {
	rest := make([]byte, lookBytes)
	n, err := f.ReadAt(rest[:2*page], l.Stop)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if isTornAt(rest[:n], l.Stop) {
		return false, nil // the end, or a write that was cut short
	}
	if n, err = f.ReadAt(rest, l.Stop); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	rest = bytes.TrimRight(rest[:n], "\x00")
	for p := 1; p < len(rest)-1; p++ {
		if rest[p+1] == userMeta && recordLen(rest[p:]) > 0 { // a checksum at each byte takes minutes
			return !hasGap(rest[:p], l.Stop), nil
		}
	}
	n, ok := claimedLen(rest)
	return ok && n <= len(rest) && !hasGap(rest, l.Stop), nil // the last one, up to its checksum
}

// read goes through the records that are whole, as Badger does when it replays them: the
// entries of a group count once its end is there. If each is not nil, read calls it for each record.
func (l *Log) read(each func(at int64, record []byte)) error {
	f, err := os.Open(l.File)
	if err != nil {
		return err
	}
	defer f.Close()
	l.Stop = HeaderBytes
	if _, err := f.Seek(l.Stop, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(f, 1<<20)
	var group group
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
			_, err = f.ReadAt(record, l.Stop)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(record) < n || recordLen(record) != n || !l.count(&group, record) {
			return nil
		}
		if each != nil {
			each(l.Stop, record)
		}
		if _, err := r.Discard(n); err != nil {
			return err
		}
		l.Stop += int64(n)
	}
}

// FirstGroup returns where the first group begins that has a value for which match holds; 0 if there
// is none. The value is valid until match returns.
func (l *Log) FirstGroup(match func(value []byte) (bool, error)) (at int64, err error) {
	group := int64(0) // where it begins, 0 between groups
	look := Log{File: l.File}
	rerr := look.read(func(from int64, record []byte) {
		if group == 0 {
			group = from
		}
		if at == 0 && err == nil {
			var found bool
			if found, err = match(recordValue(record)); found {
				at = group
			}
		}
		if meta := record[0]; meta&endBit != 0 || meta&txnBits == 0 {
			group = 0
		}
	})
	if rerr != nil {
		return 0, fmt.Errorf("store: reading %s: %w", l.File, rerr)
	}
	return at, err
}

// Cut ends the log at a byte, and reads it again. It keeps the whole records that it cuts off in
// another file.
func (l *Log) Cut(at int64) error {
	if err := l.zeroFrom(at); err != nil {
		return fmt.Errorf("store: cut %s: %w", l.File, err)
	}
	*l = Log{File: l.File, Number: l.Number}
	if err := l.read(nil); err != nil {
		return fmt.Errorf("store: reading %s: %w", l.File, err)
	}
	return nil
}

// zeroFrom fills the log with zeros from a byte on, and keeps the records from there in another file.
func (l *Log) zeroFrom(at int64) (err error) {
	f, err := os.OpenFile(l.File, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := keep(io.NewSectionReader(f, at, l.Stop-at), l.File+lostSuffix); err != nil {
		return err
	}
	return errors.Join(f.Truncate(at), f.Truncate(info.Size()), f.Sync())
}

// keep writes records to a file, and returns when they are on the disk.
func keep(records io.Reader, file string) error {
	kept, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(kept, records)
	return errors.Join(err, kept.Sync(), kept.Close(), dirfile.SyncDir(filepath.Dir(file)))
}

// lostSuffix is given to logs, and parts of logs, that are set aside.
const lostSuffix = ".lost"

// SetAside renames the log, so that Badger does not read it.
func (l *Log) SetAside() error {
	if err := os.Rename(l.File, l.File+lostSuffix); err != nil {
		return fmt.Errorf("store: set a log aside: %w", err)
	}
	return nil
}

// Path is the file of a log, by its number, in the directory of a table.
func Path(dir string, number int) string {
	return filepath.Join(dir, dirfile.Badger, fmt.Sprintf("%05d%s", number, Suffix))
}

// group is a group whose end was not read yet.
type group struct {
	version uint64
	entries int
}

// count adds a record to the contents of the log, unless Badger would stop at it.
func (l *Log) count(g *group, record []byte) bool {
	version := recordVersion(record)
	switch meta := record[0]; {
	case meta&txnBits == 0:
		l.Entries++
		return g.entries == 0
	case meta&endBit == 0:
		if g.entries > 0 && version != g.version {
			return false
		}
		g.version = version
		g.entries++
		return true
	case version != g.version || g.entries == 0:
		return false
	}
	l.Entries += g.entries
	if l.First == 0 {
		l.First = version
	} else if version != l.Last+1 {
		l.Skips = true
	}
	l.Last = version
	*g = group{}
	return true
}

// recordHead is what comes before the key of a record.
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
	if len(key) < numberBytes {
		return 0
	}
	return ^binary.BigEndian.Uint64(key[len(key)-numberBytes:])
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
	if !ok || h.key == 0 || h.key > keyMost || h.value > valueMost {
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
	end := page - int(at%page)
	if end < 16 {
		end += page
	}
	return len(bytes.TrimLeft(b[:min(end, len(b))], "\x00")) == 0
}

// hasGap reports whether the part of some page in b ends with zeros.
func hasGap(b []byte, at int64) bool {
	for i := page - int(at%page); i <= len(b); i += page {
		if i >= 16 && len(bytes.TrimLeft(b[i-16:i], "\x00")) == 0 {
			return true
		}
	}
	return false
}
