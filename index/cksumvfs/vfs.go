// Package cksumvfs gives SQLite databases a checksum on every page.
//
// SQLite trusts its file: a flipped byte in a page silently gives another row, or none.
// SQLite has an extension against that, the checksum VFS
// (https://www.sqlite.org/cksumvfs.html), which the driver does not include. This package
// works in the same way: the last [reserved] bytes of each page, which SQLite leaves alone
// if the header says so, hold the checksum of the rest. It is computed when a page is
// written to the database file and compared when one is read from it. A page that does not
// match fails the read with an error for which [IsFault] is true, so damage costs a query
// its answer but never makes the answer wrong.
//
// Open a database with the VFS [Name], and create it with the bytes of [Empty]. The
// checksum also covers the page number, so a page that a disk puts in the wrong place is
// detected. Other programs can read such a database. Pages that they write have no checksum
// and count as damage.
//
// # What it does not cover
//
// Frames of the write-ahead log have checksums of their own, which SQLite compares when the
// first connection after a crash recovers the log. It silently stops at the first frame
// that does not match, so users of this package must find another way to notice the missing
// rest. Damage to a log that processes have open is not detected.
package cksumvfs

import (
	"encoding/binary"
	"fmt"
	"sync"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Name is the name of the VFS, for the parameter vfs of a data source name. Call [Register]
// first.
const Name = "indexer-cksum"

const (
	// PageSize is the page size of all databases of this VFS.
	PageSize = 4096
	reserved = 8 // bytes at the end of each page
)

// fault is the result code of a read that found damage: one of the family of
// SQLITE_CORRUPT, with an extended code that SQLite does not use.
const fault = sqlite3.SQLITE_CORRUPT | 0x5a<<8

// IsFault reports whether an extended result code of SQLite means that a page did not match
// its checksum.
func IsFault(code int) bool { return code == fault }

// Register registers the VFS with SQLite. It may be called any number of times.
var Register = sync.OnceValue(register)

// The VFS is the system's, except for xOpen. For a database file, xOpen installs other
// methods in the opened file: again those of the system, except for xRead, xWrite and the
// device characteristics. So locks, shared memory and everything else that depends on the
// system stay as they are. Other files (logs, journals, temporary files) are not touched.
func register() error {
	tls := libc.NewTLS()
	defer tls.Close()
	system := sqlite3.Xsqlite3_vfs_find(tls, 0)
	if system == 0 {
		return fmt.Errorf("cksumvfs: SQLite has no file system")
	}
	name, err := libc.CString(Name)
	if err != nil {
		return fmt.Errorf("cksumvfs: %w", err)
	}
	vfs := *at[sqlite3.Tsqlite3_vfs](system)
	systemOpen = vfs.FxOpen
	vfs.FpNext, vfs.FzName, vfs.FxOpen = 0, name, function(open)
	p := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(vfs)))
	if p == 0 {
		return fmt.Errorf("cksumvfs: out of memory")
	}
	*at[sqlite3.Tsqlite3_vfs](p) = vfs // kept for the life of the process, as is the name
	if rc := sqlite3.Xsqlite3_vfs_register(tls, p, 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("cksumvfs: register: result code %d", rc)
	}
	return nil
}

var systemOpen uintptr // the system's xOpen

func open(tls *libc.TLS, vfs, path, file uintptr, flags int32, outFlags uintptr) int32 {
	rc := call[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](systemOpen)(tls, vfs, path, file, flags, outFlags)
	if rc != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_MAIN_DB == 0 {
		return rc
	}
	f := at[sqlite3.Tsqlite3_file](file)
	if checking := checkingMethods(tls, f.FpMethods); checking != 0 {
		f.FpMethods = checking
		return rc
	}
	call[func(*libc.TLS, uintptr) int32](at[sqlite3.Tsqlite3_io_methods](f.FpMethods).FxClose)(tls, file)
	return sqlite3.SQLITE_NOMEM
}

// methods are the methods of a file. SQLite sees only the first part, whose address is that
// of the whole.
type methods struct {
	sqlite3.Tsqlite3_io_methods
	system uintptr // the methods that these wrap
}

// checked maps the few method tables of the system to those made for them.
var checked = struct {
	sync.Mutex
	methods map[uintptr]uintptr
}{methods: make(map[uintptr]uintptr)}

func checkingMethods(tls *libc.TLS, system uintptr) uintptr {
	checked.Lock()
	defer checked.Unlock()
	if p := checked.methods[system]; p != 0 {
		return p
	}
	m := methods{*at[sqlite3.Tsqlite3_io_methods](system), system}
	m.FxRead, m.FxWrite = function(read), function(write)
	m.FxDeviceCharacteristics = function(characteristics)
	m.FiVersion = min(m.FiVersion, 2) // no xFetch, because mapped pages would bypass xRead
	p := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(m)))
	if p != 0 {
		*at[methods](p) = m // for the life of the process
		checked.methods[system] = p
	}
	return p
}

func systemMethods(file uintptr) *sqlite3.Tsqlite3_io_methods {
	m := at[methods](at[sqlite3.Tsqlite3_file](file).FpMethods)
	return at[sqlite3.Tsqlite3_io_methods](m.system)
}

// read checks the checksum if it reads a page. SQLite also reads the header alone, to learn
// the page size; it reads the whole page before it uses anything else of it. SQLite would
// treat a page beyond the end of the file as zeros, but that page is lost: pages that were
// never written are in the log, or are not read.
func read(tls *libc.TLS, file, buf uintptr, n int32, offset sqlite3.Tsqlite3_int64) int32 {
	rc := call[func(*libc.TLS, uintptr, uintptr, int32, sqlite3.Tsqlite3_int64) int32](systemMethods(file).FxRead)(tls, file, buf, n, offset)
	switch {
	case n < 512: // the smallest page size of SQLite
		return rc
	case rc == sqlite3.SQLITE_IOERR_SHORT_READ:
		return fault
	case rc != sqlite3.SQLITE_OK:
		return rc
	case n != PageSize || offset%PageSize != 0 || !matches(bytesAt(buf), offset/PageSize):
		return fault
	}
	return rc
}

// write computes the checksum in the buffer of the caller. That is a page of a cache or of
// a checkpoint, in which nothing else uses the reserved bytes.
func write(tls *libc.TLS, file, buf uintptr, n int32, offset sqlite3.Tsqlite3_int64) int32 {
	if n == PageSize && offset%PageSize == 0 {
		seal(bytesAt(buf), offset/PageSize)
	}
	return call[func(*libc.TLS, uintptr, uintptr, int32, sqlite3.Tsqlite3_int64) int32](systemMethods(file).FxWrite)(tls, file, buf, n, offset)
}

// characteristics returns the system's without SQLITE_IOCAP_SUBPAGE_READ: with it, SQLite
// would read parts of pages past its cache.
func characteristics(tls *libc.TLS, file uintptr) int32 {
	return call[func(*libc.TLS, uintptr) int32](systemMethods(file).FxDeviceCharacteristics)(tls, file) &^ sqlite3.SQLITE_IOCAP_SUBPAGE_READ
}

func checksum(page []byte, number int64) uint64 {
	// The page number is multiplied by a large odd number, so that no two pages differ
	// only in a few low bits.
	return xxhash.Sum64(page[:PageSize-reserved]) ^ uint64(number+1)*0x9e3779b97f4a7c15
}

func seal(page []byte, number int64) {
	binary.LittleEndian.PutUint64(page[PageSize-reserved:], checksum(page, number))
}

func matches(page []byte, number int64) bool {
	return binary.LittleEndian.Uint64(page[PageSize-reserved:]) == checksum(page, number)
}

// SQLite's memory is outside Go's, and Go sees pointers to it as numbers. Such a number
// becomes a Go pointer through its own address, and the garbage collector never follows
// it.

func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

func bytesAt(address uintptr) []byte { return unsafe.Slice(at[byte](address), PageSize) }

// call makes a Go function of a function pointer of SQLite, which is a pointer to what Go
// calls.
func call[F any](pointer uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{pointer})) }

// function does the reverse of call. f must be a function of this package, not a closure,
// because it must never move.
func function[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// Empty returns an empty database with checksums: one page, as
// https://www.sqlite.org/fileformat.html describes it. SQLite takes the number of reserved
// bytes from the header of an existing file. It could also reserve them in a new file, but
// the driver has no way to ask for that.
func Empty(applicationID, userVersion uint32) []byte {
	page := make([]byte, PageSize)
	put16 := func(at int, v uint16) { binary.BigEndian.PutUint16(page[at:], v) }
	put32 := func(at int, v uint32) { binary.BigEndian.PutUint32(page[at:], v) }
	copy(page, "SQLite format 3\x00")
	put16(16, PageSize)
	page[18], page[19] = 1, 1                  // versions of the format for writing and reading
	page[20] = reserved                        // bytes at the end of each page
	page[21], page[22], page[23] = 64, 32, 32  // fractions of payload, always these
	put32(24, 1)                               // file change counter
	put32(28, 1)                               // pages
	put32(44, 4)                               // schema format
	put32(56, sqlite3.SQLITE_UTF8)             // text encoding
	put32(60, userVersion)                     //
	put32(68, applicationID)                   //
	put32(92, 1)                               // change counter for which the next is valid
	put32(96, sqlite3.SQLITE_VERSION_NUMBER)   // version number of the SQLite that wrote it
	page[100] = 0x0d                           // the schema: a table's leaf without cells
	put16(105, uint16(PageSize-int(page[20]))) // where its cells begin
	seal(page, 0)
	return page
}
