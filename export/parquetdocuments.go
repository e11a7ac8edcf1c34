package export

import (
	"errors"
	"io"

	"github.com/webindexer/indexer/page"
)

// listBytes bounds a list of a document in Parquet, in bytes of its strings plus
// entryBytes per entry. Separate columns hold the full counts. A row never spans two
// pages of a column, so a list is on one page, which writers and readers hold in memory
// several times: a popular page with a million inlinks would take half a gigabyte. The
// table of links has all of them as rows.
const listBytes = 8 << 20

// entryBytes is the size of a list entry without its strings.
const entryBytes = 24

// parquetDocument is the row of a document.
type parquetDocument struct {
	Document
	MembersTotal int64 `parquet:"members_total"`
	InlinksTotal int64 `parquet:"inlinks_total"`
}

type parquetDocuments struct {
	rows *parquetSink[parquetDocument]
	most int // listBytes, except in tests
}

// NewParquetDocuments writes documents as Parquet, with at most the first 8 MiB of each list
// (listBytes).
func NewParquetDocuments(w io.Writer) Sink[LongDocument] {
	return &parquetDocuments{newParquet(w, documentSize, "text"), listBytes}
}

func documentSize(d *parquetDocument) int {
	n := 216 + len(d.URL) + len(d.Title) + len(d.Text)
	for _, m := range d.Members {
		n += len(m)
	}
	for i := range d.Inlinks {
		n += linkSize(&d.Inlinks[i])
	}
	return n
}

func (p *parquetDocuments) Write(doc *LongDocument) error {
	row := parquetDocument{doc.Document, int64(doc.MembersTotal), int64(doc.InlinksTotal)}
	row.Members, row.Inlinks = []page.URL{}, []Link{}
	err := visitFirst(p.most, doc.EachMember, memberSize, func(u page.URL) { row.Members = append(row.Members, u) })
	if err != nil {
		return err
	}
	err = visitFirst(p.most, doc.EachInlink, linkSize, func(l *Link) { row.Inlinks = append(row.Inlinks, *l) })
	if err != nil {
		return err
	}
	return p.rows.Write(&row)
}

func memberSize(u page.URL) int { return entryBytes + len(u) }

// errEnough ends a visit when the list is full.
var errEnough = errors.New("the list is full")

// visitFirst visits the entries of a list as long as their sizes add up to no more than most bytes.
func visitFirst[E any](most int, each func(func(E) error) error, size func(E) int, visit func(E)) error {
	err := each(func(e E) error {
		if most -= size(e); most < 0 {
			return errEnough
		}
		visit(e)
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (p *parquetDocuments) Close() error { return p.rows.Close() }
