package badgerdb

import (
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
	"sync"
	"sync/atomic"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
)

// Long values are kept in blob files, and Badger keeps pointers to them. A compaction then
// rewrites pointers of 17 bytes, and not pages. Without blob files each byte was written
// more than four times, and the tables did not fit into the block cache.
//
// A blob file has a header, and then values back to back. Everything else that is known
// about a value is in its pointer. Only the committer appends, always to the newest file;
// no byte of a blob file ever changes. blobgc.go removes files.
//
// The order of writes ensures that every pointer has its value:
//
//  1. The value is appended before its pointer goes to Badger's log. Both are then
//     in the system's cache. So if the process is killed, each pointer still has its
//     value.
//  2. A value is on the disk before any table file that has its pointer (blobsync.go). So
//     if the machine crashes, each pointer in a table still has its value.
//  3. Without SyncWrites, the log of a memtable may reach the disk before the values do. So
//     after the machine has crashed, the logs are searched for pointers without values, and
//     cut before the first group that has one (bloblost.go), as if the log had been torn
//     there.
//  4. With SyncWrites, the value is on the disk before the log is.
//
// Damage never looks like a missing value or a different one: the pointer has the checksum.
type blobs struct {
	dir        string
	fileBytes  int64
	leastWaste int64 // for a pass (blobgc.go)

	mu    sync.RWMutex // of files
	files map[uint32]*blobFile

	newest  *blobFile    // guarded by the committer's writeMu, and by syncing where it changes; nil before the first
	total   atomic.Int64 // bytes in all files
	waste   atomic.Int64 // about how many of them no pointer leads to
	futile  atomic.Int64 // the waste when a pass found no file to collect, 0 if the last one did find one
	written atomic.Int64 // bytes appended since the table was opened
	synced  atomic.Int64 // of them, those that are on the disk
	syncing sync.Mutex
	failed  error         // of a sync, after which the contents of the disk are unknown
	due     chan struct{} // holds an element when much is not on the disk
}

type blobFile struct {
	number uint32
	file   *os.File
	size   atomic.Int64
}

const (
	blobsDir    = "blobs"
	blobSuffix  = ".blob"
	blobHeader  = "indexer blobs 1\n"
	blobPointer = 0x02 // the first byte of a pointer, where a value has plainValue
	// pointerBytes is the length of a stored pointer: the byte blobPointer, and four
	// numbers of 4 bytes.
	pointerBytes = 1 + 4*4
	// defaultBlobBytes is the length of the shortest long value. To read a shorter one
	// from a file of its own costs more than to rewrite it.
	defaultBlobBytes = 1 << 10
	blobFileBytes    = 64 << 20
)

// pointer says where a long value is.
type pointer struct{ file, offset, length, sum uint32 }

func (p pointer) append(dst []byte) []byte {
	dst = append(dst, blobPointer)
	for _, n := range [...]uint32{p.file, p.offset, p.length, p.sum} {
		dst = binary.BigEndian.AppendUint32(dst, n)
	}
	return dst
}

// parsePointer parses a stored value of a versioned group, if it is a pointer.
func parsePointer(stored []byte) (p pointer, ok bool) {
	if len(stored) != pointerBytes || stored[0] != blobPointer {
		return p, false
	}
	at := func(i int) uint32 { return binary.BigEndian.Uint32(stored[1+4*i:]) }
	return pointer{file: at(0), offset: at(1), length: at(2), sum: at(3)}, true
}

func blobSum(value []byte) uint32 { return crc32.Checksum(value, castagnoli) }

// openBlobs opens the blob files of a table. A killed process may have left values that are
// not synced to the disk. openBlobs syncs them, because Badger is about to write tables
// that point to them.
func openBlobs(dir string) (b *blobs, err error) {
	b = &blobs{dir: filepath.Join(dir, blobsDir), fileBytes: blobFileBytes, leastWaste: leastWaste, files: map[uint32]*blobFile{}, due: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	names, err := dirfile.Matching(b.dir, "*"+blobSuffix)
	if err != nil {
		return b, err
	}
	for i, name := range names {
		if err := b.openFile(name, i >= len(names)-2); err != nil {
			return b, err
		}
	}
	return b, nil
}

// openFile opens a blob file. A file that has no header, and is not longer than one, was
// being made when the process or the machine ended. Nothing points into it, unless it has been cut,
// so it stays as it is until rotate makes a file of its number.
func (b *blobs) openFile(name string, sync bool) error {
	number, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(name), blobSuffix), 10, 32)
	if err != nil {
		return errs.Corrupt(name, "its name is not that of a blob file")
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	info, err := f.Stat()
	if err == nil && sync {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("store: %w", err), f.Close())
	}
	header := make([]byte, len(blobHeader))
	switch _, err := f.ReadAt(header, 0); {
	case err != nil && !errors.Is(err, io.EOF):
		return errors.Join(fmt.Errorf("store: reading %s: %w", name, err), f.Close())
	case string(header) == blobHeader:
	case info.Size() <= int64(len(blobHeader)):
		return f.Close()
	default:
		return errors.Join(errs.Corrupt(name, "it does not begin as it should"), f.Close())
	}
	file := &blobFile{number: uint32(number), file: f}
	file.size.Store(info.Size())
	b.files[file.number] = file
	b.total.Add(info.Size())
	if b.newest == nil || b.newest.number < file.number {
		b.newest = file
	}
	return nil
}

// next returns where the next value begins, if n bytes are about to be appended: in a new
// file, if the newest is full. The caller holds the committer's writeMu.
func (b *blobs) next(n int) (file, offset uint32, err error) {
	if b.newest == nil || b.newest.size.Load()+int64(n) > b.fileBytes && b.newest.size.Load() > int64(len(blobHeader)) {
		if err := b.rotate(); err != nil {
			return 0, 0, fmt.Errorf("store: make a blob file: %w", err)
		}
	}
	return b.newest.number, uint32(b.newest.size.Load()), nil
}

// rotate makes a new file. The previous one is on the disk afterwards, so only the newest
// one ever needs a sync.
func (b *blobs) rotate() error {
	number := uint32(1)
	if b.newest == nil {
		if err := errors.Join(os.MkdirAll(b.dir, 0o700), dirfile.SyncDir(filepath.Dir(b.dir))); err != nil {
			return err
		}
	} else {
		number = b.newest.number + 1
		if err := b.sync(); err != nil {
			return err
		}
	}
	f, err := create(b.name(number))
	if err != nil {
		return err
	}
	if _, err = f.WriteString(blobHeader); err == nil {
		err = errors.Join(f.Sync(), dirfile.SyncDir(b.dir))
	}
	if err != nil { // the next attempt makes a file of the same name
		return errors.Join(err, f.Close(), os.Remove(b.name(number)))
	}
	file := &blobFile{number: number, file: f}
	file.size.Store(int64(len(blobHeader)))
	b.total.Add(int64(len(blobHeader)))
	b.syncing.Lock()
	defer b.syncing.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.files[number] = file
	b.newest = file
	return nil
}

// create makes a file. It replaces nothing but a file without values, which openFile has left.
func create(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && info.Size() <= int64(len(blobHeader)) {
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}

func (b *blobs) name(number uint32) string {
	return filepath.Join(b.dir, fmt.Sprintf("%06d%s", number, blobSuffix))
}

// append writes values at the place that next has returned. The caller holds the
// committer's writeMu.
func (b *blobs) append(values []byte) error {
	if len(values) == 0 {
		return nil
	}
	f := b.newest
	if _, err := f.file.WriteAt(values, f.size.Load()); err != nil {
		return fmt.Errorf("write to a blob file: %w", err)
	}
	f.size.Add(int64(len(values)))
	b.total.Add(int64(len(values)))
	if b.written.Add(int64(len(values)))-b.synced.Load() >= syncAhead {
		select {
		case b.due <- struct{}{}:
		default:
		}
	}
	return nil
}

// read appends a long value to a slice.
func (b *blobs) read(to []byte, p pointer) ([]byte, error) {
	b.mu.RLock()
	f := b.files[p.file]
	b.mu.RUnlock()
	if f == nil {
		return nil, b.noFile(p.file)
	}
	if p.length > uint32(limits.MaxValueBytes) {
		return nil, errs.Corrupt(b.name(p.file), "a pointer names a value of %d bytes there, which is too long", p.length)
	}
	n := len(to)
	to = slices.Grow(to, int(p.length))[:n+int(p.length)]
	value := to[n:]
	switch _, err := f.file.ReadAt(value, int64(p.offset)); {
	case errors.Is(err, io.EOF):
		return nil, errs.Corrupt(b.name(p.file), "it has been cut: a value of %d bytes begins at byte %d", p.length, p.offset)
	case err != nil:
		return nil, errs.Run("reading "+b.name(p.file), err)
	case blobSum(value) != p.sum:
		return nil, errs.Corrupt(b.name(p.file), "the value at byte %d is damaged", p.offset)
	}
	return to, nil
}

// noFile says what has happened to a file that is not open.
func (b *blobs) noFile(number uint32) error {
	name := b.name(number)
	if info, err := os.Stat(name); err == nil {
		return errs.Corrupt(name, "the blob file has been cut to %d bytes", info.Size())
	}
	return errs.Corrupt(name, "the blob file is missing")
}

// remove removes a file to which no pointer is left.
func (b *blobs) remove(f *blobFile) error {
	b.mu.Lock()
	delete(b.files, f.number)
	b.mu.Unlock()
	b.total.Add(-f.size.Load())
	if err := errors.Join(f.file.Close(), os.Remove(b.name(f.number))); err != nil {
		return fmt.Errorf("store: remove a blob file: %w", err)
	}
	return nil
}

func (b *blobs) close() (err error) {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.files {
		err = errors.Join(err, f.file.Close())
	}
	b.files = nil
	return err
}

// value returns the value of a cell of a versioned group. A short value is a part of
// stored. A long one is in a slice of its own, which begins with the contents of to.
func (b *blobs) value(to, stored, key []byte) (value []byte, long bool, err error) {
	if p, ok := parsePointer(stored); ok {
		value, err = b.read(to, p)
		return value, true, err
	}
	value, err = splitPlain(stored, key)
	return value, false, err
}
