package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// long returns a document that fits into memory as one that need not.
func long(d *Document) *LongDocument {
	l := &LongDocument{Document: *d, MembersTotal: len(d.Members), InlinksTotal: len(d.Inlinks)}
	l.Members, l.Inlinks = nil, nil
	l.EachMember = func(fn func(page.URL) error) error {
		for _, u := range d.Members {
			if err := fn(u); err != nil {
				return err
			}
		}
		return nil
	}
	l.EachInlink = func(fn func(*Link) error) error {
		for i := range d.Inlinks {
			if err := fn(&d.Inlinks[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return l
}

// listed takes documents that fit into memory.
type listed struct{ Sink[LongDocument] }

func (l listed) Write(d *Document) error { return l.Sink.Write(long(d)) }

// Random documents, written piece by piece, give the lines that encoding/json writes at
// once; for digests, with rank and time zero.
func TestDocumentLinesAsEncodingJSON(t *testing.T) {
	docs := parquetDocs(testenv.Random(t), 100)
	docs[7].Title, docs[7].Text = "<b>&\u2028", "\x00\"\\\xff"
	for _, timeless := range []bool{false, true} {
		var got, want bytes.Buffer
		open := NewJSONLDocuments
		if timeless {
			open = NewDigestLines
		}
		sink, enc := open(&got), json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		for _, d := range docs {
			if err := sink.Write(long(&d)); err != nil {
				t.Fatal(err)
			}
			if timeless {
				d.Rank, d.FetchedAt = 0, time.Time{}
			}
			if err := enc.Encode(&d); err != nil {
				t.Fatal(err)
			}
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("timeless %t: %d bytes, want %d others", timeless, got.Len(), want.Len())
		}
	}
}

// The error of a visit, and that of the reader, end a document.
func TestDocumentLinesErrors(t *testing.T) {
	gone := errors.New("gone")
	d := parquetDocs(rand.New(rand.NewPCG(1, 0)), 1)[0]
	for _, open := range []func(io.Writer) Sink[LongDocument]{NewJSONLDocuments, NewDigestLines, NewParquetDocuments} {
		members, inlinks := long(&d), long(&d)
		members.EachMember = func(func(page.URL) error) error { return gone }
		inlinks.EachInlink = func(func(*Link) error) error { return gone }
		for _, broken := range []*LongDocument{members, inlinks} {
			if err := open(io.Discard).Write(broken); !errors.Is(err, gone) {
				t.Errorf("%T: %v", open(io.Discard), err)
			}
		}
	}
	d.Text = strings.Repeat("x", 2*buffered)
	if err := NewJSONLDocuments(goneWriter{gone}).Write(long(&d)); !errors.Is(err, gone) {
		t.Error(err)
	}
}

type goneWriter struct{ err error }

func (g goneWriter) Write([]byte) (int, error) { return 0, g.err }

// Parquet has the beginning of long lists, and how many entries there are.
func TestParquetOfLongLists(t *testing.T) {
	docs := parquetDocs(rand.New(rand.NewPCG(1, 0)), 50)
	var out bytes.Buffer
	sink := NewParquetDocuments(&out)
	const most = 180
	sink.(*parquetDocuments).most = most
	for i := range docs {
		if err := sink.Write(long(&docs[i])); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[parquetDocument](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(rows) != len(docs) {
		t.Fatal(len(rows), err)
	}
	cut := 0
	for i, row := range rows {
		d := &docs[i]
		if row.MembersTotal != int64(len(d.Members)) || row.InlinksTotal != int64(len(d.Inlinks)) {
			t.Errorf("%s: %d and %d, want %d and %d", d.URL, row.MembersTotal, row.InlinksTotal, len(d.Members), len(d.Inlinks))
		}
		members := beginning(d.Members, most, func(u *page.URL) int { return 24 + len(*u) })
		inlinks := beginning(d.Inlinks, most, func(l *Link) int { return 24 + len(l.Source) + len(l.Target) + len(l.Anchor) })
		if !slices.Equal(row.Members, members) || !slices.Equal(row.Inlinks, inlinks) {
			t.Errorf("%s: lists %v and %v, want %v and %v", d.URL, row.Members, row.Inlinks, members, inlinks)
		}
		if len(inlinks) > 0 && len(inlinks) < len(d.Inlinks) {
			cut++
		}
	}
	if cut == 0 {
		t.Error("nothing was cut")
	}
}

// beginning is as much of a list as has most bytes.
func beginning[T any](list []T, most int, size func(*T) int) []T {
	for i := range list {
		if most -= size(&list[i]); most < 0 {
			return list[:i]
		}
	}
	return list
}
