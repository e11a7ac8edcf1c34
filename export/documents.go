package export

import (
	"bufio"
	"encoding/json"
	"io"
	"time"

	"github.com/webindexer/indexer/internal/longjson"
	"github.com/webindexer/indexer/page"
)

// LongDocument is a document whose lists may not fit into memory. Members and Inlinks of
// Document are not set; EachMember and EachInlink visit them. Visits can be repeated with
// the same result. An error of fn ends a visit and is returned.
type LongDocument struct {
	Document
	MembersTotal, InlinksTotal int
	EachMember                 func(fn func(page.URL) error) error // ascending
	EachInlink                 func(fn func(*Link) error) error    // by source, target, anchor
}

// documentLines writes documents as JSON, one per line, in the same form as json.Encoder,
// but piece by piece.
type documentLines struct {
	out      *bufio.Writer
	object   *longjson.Writer
	timeless bool // rank and time are zero
}

// NewJSONLDocuments writes one document per line, in UTF-8, without escaping < and >.
func NewJSONLDocuments(w io.Writer) Sink[LongDocument] { return newDocumentLines(w, false) }

// NewDigestLines writes the lines over which digests of documents are computed: those of
// NewJSONLDocuments, but with a rank and a time of zero.
func NewDigestLines(w io.Writer) Sink[LongDocument] { return newDocumentLines(w, true) }

func newDocumentLines(w io.Writer, timeless bool) *documentLines {
	out := bufio.NewWriterSize(w, buffered)
	return &documentLines{out: out, object: longjson.New(out), timeless: timeless}
}

// documentHead holds the fields before the members, and documentMiddle those between the
// members and the inlinks, in the order of Document.
type documentHead struct {
	URL      page.URL `json:"url"`
	Title    string   `json:"title"`
	Text     string   `json:"text"`
	Language string   `json:"language"`
	Rank     float64  `json:"rank"`
}

type documentMiddle struct {
	ContentKey string    `json:"content_key"`
	FetchedAt  time.Time `json:"fetched_at"`
}

func (d *documentLines) Write(doc *LongDocument) error {
	rank, fetchedAt := doc.Rank, doc.FetchedAt
	if d.timeless {
		rank, fetchedAt = 0, time.Time{}
	}
	steps := []func() error{
		d.object.Open,
		func() error {
			return d.object.Fields(&documentHead{doc.URL, doc.Title, doc.Text, doc.Language, rank})
		},
		func() error {
			return d.object.List("members", func(put func(any) error) error {
				return doc.EachMember(func(u page.URL) error { return put(u) })
			})
		},
		func() error { return d.object.Fields(&documentMiddle{doc.ContentKey, fetchedAt}) },
		func() error {
			return d.object.List("inlinks", func(put func(any) error) error {
				return doc.EachInlink(func(l *Link) error { return put(l) })
			})
		},
		d.object.Close,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (d *documentLines) Close() error { return d.out.Flush() }

// buffered is the size of a writer's buffer, in bytes.
const buffered = 1 << 16

type jsonl[T any] struct {
	out *bufio.Writer
	enc *json.Encoder
}

// NewJSONL writes one JSON object per line, in UTF-8, without escaping < and >.
func NewJSONL[T any](w io.Writer) Sink[T] {
	out := bufio.NewWriterSize(w, buffered)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return &jsonl[T]{out, enc}
}

func (j *jsonl[T]) Write(record *T) error { return j.enc.Encode(record) }

func (j *jsonl[T]) Close() error { return j.out.Flush() }
