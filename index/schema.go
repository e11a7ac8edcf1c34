package index

import (
	"database/sql"
	"maps"
	"net/url"
	"path/filepath"
	"strconv"

	"github.com/webindexer/indexer/index/cksumvfs"
)

// FormatVersion is the version of the tables below, in the user_version of the file. A
// program refuses files of a newer version, and rebuilds those of an older one from the
// store.
const FormatVersion = 11

// applicationID distinguishes index files from other SQLite databases ("Idx1").
const applicationID = 0x49647831

// schemaSQL makes an empty index. docs/format-index.md explains each table.
//
// The rows of docs, fts, ranks, times, sketches and thumbnails with the same id belong together and
// are written in one transaction. Not all documents have a thumbnail. A cluster is never in both docs and
// tombstones.
const schemaSQL = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE docs(
  id            INTEGER PRIMARY KEY,
  cluster       BLOB NOT NULL UNIQUE,   -- content key, 32 bytes
  seq           INTEGER NOT NULL,       -- snapshot timestamp
  url           TEXT NOT NULL UNIQUE,   -- canonical URL
  hash          BLOB NOT NULL,          -- of everything that fts and the stored text depend on
  language      TEXT NOT NULL,
  title         TEXT NOT NULL,
  inlinks       INTEGER NOT NULL,
  members_total INTEGER NOT NULL,
  members       TEXT NOT NULL,          -- JSON ["url",…]
  anchors       TEXT NOT NULL,          -- JSON [{"text":…,"count":…,"others":…},…]
  headings      TEXT NOT NULL,          -- of the sections in the outline, one a line (headings.go)
  outline       BLOB NOT NULL,          -- S2, the outline of the text (page.Outline), empty for none
  head          BLOB NOT NULL,          -- S2, the first 32 KiB of the text (compress.go)
  rest          BLOB,                   -- S2, the rest
  digest        BLOB NOT NULL,          -- from the caller, of the document
  row           INTEGER NOT NULL        -- checksum of the row (state.go)
);
CREATE TABLE ranks(id INTEGER PRIMARY KEY, rank REAL NOT NULL, seq INTEGER NOT NULL);
CREATE TABLE times(id INTEGER PRIMARY KEY, fetched INTEGER NOT NULL, -- ns since 1970, 0 unknown
  indexed INTEGER NOT NULL DEFAULT 0); -- likewise: the time since which the document can be found (indexedat.go)
CREATE TABLE tombstones(cluster BLOB PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE stemmers(name TEXT PRIMARY KEY) WITHOUT ROWID; -- languages of stemmed documents

` + stateSQL + fullTextSQL + lengthsSQL + wordsSQL + sketchesSQL + repeatsSQL + thumbnailsSQL

// fullTextSQL makes the full-text table. The column body has the main content of the text,
// and rest has the rest of it. The column anchors has the anchors of links from
// the same site only, and outside those of links from other sites.
const fullTextSQL = `
CREATE VIRTUAL TABLE fts USING fts5(title, body, anchors, outside, url, rest, tags,
  content='', contentless_delete=1, tokenize='ascii');
INSERT INTO fts(fts, rank) VALUES('hashsize', 8388608);
`

// dsn returns the data source name of a database file: the path with URI parameters, and
// pragmas in order.
func dsn(path string, params map[string]string, pragmas ...string) string {
	q := url.Values{"_pragma": pragmas}
	for k, v := range params {
		q.Set(k, v)
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: q.Encode()}).String()
}

func writerDSN(path string, fullSync bool) string {
	sync := "NORMAL"
	if fullSync {
		sync = "FULL"
	}
	return dsn(path, checked(map[string]string{"mode": "rw"}),
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous("+sync+")",
		"cache_size("+strconv.Itoa(-writerCacheKiB)+")", "journal_size_limit(67108864)", "wal_autocheckpoint(4000)")
}

func readerDSN(path string, immutable bool) string {
	return dsn(path, checked(readOnly(immutable)), readerPragmas...)
}

// headerDSN reads without checking checksums, for files of any program, even while they are
// written.
func headerDSN(path string, immutable bool) string {
	return dsn(path, readOnly(immutable), readerPragmas...)
}

var readerPragmas = []string{"busy_timeout(10000)", "query_only(1)", "cache_size(" + strconv.Itoa(-readerCacheKiB) + ")"}

func readOnly(immutable bool) map[string]string {
	p := map[string]string{"mode": "ro"}
	if immutable {
		p["immutable"] = "1"
	}
	return p
}

// openDatabase opens a database by its data source name.
func openDatabase(dsn string) (*sql.DB, error) {
	if err := cksumvfs.Register(); err != nil {
		return nil, err
	}
	return sql.Open("sqlite", dsn)
}

// checked adds the file system that writes checksums on pages and compares them.
func checked(params map[string]string) map[string]string {
	p := map[string]string{"vfs": cksumvfs.Name}
	maps.Copy(p, params)
	return p
}

// Page caches, per connection.
const (
	writerCacheKiB = 32 << 10
	readerCacheKiB = 16 << 10
)
