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
// table of links has them all as rows.
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

// NewParquetDocuments writes documents as Parquet, with at most the first 8 MiB of each list.
func NewParquetDocuments(w io.Writer) Sink[LongDocument] {
	return &parquetDocuments{newParquet(w, documentSize), listBytes}
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

// errEnough ends a visit when the list is full.
var errEnough = errors.New("the list is full")

func (p *parquetDocuments) Write(doc *LongDocument) error {
	row := parquetDocument{doc.Document, int64(doc.MembersTotal), int64(doc.InlinksTotal)}
	row.Members, row.Inlinks = []page.URL{}, []Link{}
	room := p.most
	err := doc.EachMember(func(u page.URL) error {
		if room -= entryBytes + len(u); room < 0 {
			return errEnough
		}
		row.Members = append(row.Members, u)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	room = p.most
	err = doc.EachInlink(func(l *Link) error {
		if room -= linkSize(l); room < 0 {
			return errEnough
		}
		row.Inlinks = append(row.Inlinks, *l)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return p.rows.Write(&row)
}

func (p *parquetDocuments) Close() error { return p.rows.Close() }
