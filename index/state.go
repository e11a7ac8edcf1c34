package index

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/page"
)

// State says how much the index files have, for comparison with what was written to them.
type State struct {
	// Applied counts the transactions, except those that only merge segments. The mark file
	// repeats it (mark.go).
	Applied   uint64
	Documents int
	// Sum is over all documents.
	Sum Sum
	// Seq is the highest Seq of an applied change.
	Seq uint64
}

// Sum is a sum over a set of documents, in any order, of a hash of cluster and digest. The
// probability that two different sets have the same sum is 2⁻⁶⁴. The sum is kept up to
// date by adding and subtracting, which costs nothing compared with writing a document.
type Sum uint64

// Add adds a document.
func (s *Sum) Add(cluster page.ContentKey, digest [8]byte) { *s += summand(cluster[:], digest[:]) }

func summand(cluster, digest []byte) Sum {
	var b [len(page.ContentKey{}) + 8]byte
	copy(b[copy(b[:], cluster):], digest)
	return Sum(xxhash.Sum64(b[:]))
}

const stateSQL = `
CREATE TABLE state(one INTEGER PRIMARY KEY CHECK(one=1), applied INTEGER NOT NULL, documents INTEGER NOT NULL, sum INTEGER NOT NULL, seq INTEGER NOT NULL);
INSERT INTO state VALUES(1, 0, 0, 0, 0);
`

const selectState = "SELECT applied, documents, sum, seq FROM state"

func scanState(scan func(...any) error) (s State, err error) {
	var sum, applied, seq int64
	err = scan(&applied, &s.Documents, &sum, &seq)
	s.Applied, s.Sum, s.Seq = uint64(applied), Sum(sum), uint64(seq)
	return s, err
}

// added counts a document that the transaction adds, and removed one that it removes.
func (t *tables) added(cluster, digest []byte) {
	t.state.Documents++
	t.state.Sum += summand(cluster, digest)
}

func (t *tables) removed(cluster, digest []byte) {
	t.state.Documents--
	t.state.Sum -= summand(cluster, digest)
}

// putState writes the state at the end of a transaction.
func (t *tables) putState() error {
	t.state.Applied++
	s := &t.state
	return t.exec("UPDATE state SET applied=?, documents=?, sum=?, seq=?", int64(s.Applied), s.Documents, int64(s.Sum), int64(s.Seq))
}

// rowSum is a checksum of a row of docs. It covers the text by the text's hash. A row that
// does not match it is never returned. Pages have checksums already; this one is for rows
// that are read from a damaged log.
type rowSum struct{ d xxhash.Digest }

func newRowSum() *rowSum {
	var s rowSum
	s.d.Reset()
	return &s
}

func (s *rowSum) number(n int64) *rowSum {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	s.d.Write(b[:]) // a hash never fails
	return s
}

func (s *rowSum) text(b []byte) *rowSum {
	s.number(int64(len(b)))
	s.d.Write(b)
	return s
}

// storedRow is a row of docs without the text.
type storedRow struct {
	cluster, url, hash, language, title []byte
	seq, inlinks, membersTotal          int64
	members, anchors, digest            []byte
}

func (r *storedRow) sum() int64 {
	s := newRowSum().text(r.cluster).number(r.seq).text(r.url).text(r.hash).text(r.language).text(r.title)
	s.number(r.inlinks).number(r.membersTotal).text(r.members).text(r.anchors).text(r.digest)
	return int64(s.d.Sum64())
}

const rowColumns = "d.cluster, d.seq, d.url, d.hash, d.language, d.title, d.inlinks, d.members_total, d.members, d.anchors, d.digest, d.row"
