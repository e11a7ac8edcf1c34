package cksumvfs

import (
	"encoding/binary"

	sqlite3 "modernc.org/sqlite/lib"
)

// Empty is an empty database with checksums: one page, as
// https://www.sqlite.org/fileformat.html describes it. SQLite takes the number of reserved bytes from the
// header of a file that is there. It could be asked to reserve them in a new file, but not
// through the driver.
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
	put32(96, sqlite3.SQLITE_VERSION_NUMBER)   // who wrote it
	page[100] = 0x0d                           // the schema: a table's leaf without cells
	put16(105, uint16(PageSize-int(page[20]))) // where its cells begin
	seal(page, 0)
	return page
}
