package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

func parquetDocs(r *rand.Rand, n int) (docs []Document) {
	for i := range n {
		d := Document{
			URL: page.URL(fmt.Sprintf("https://example.com/%d", i)), Title: []string{"", "title", "標題"}[r.IntN(3)], Text: strings.Repeat("wörd ", r.IntN(2000)),
			Language: []string{"", "en", "ja"}[r.IntN(3)], Rank: r.Float64(), ContentKey: fmt.Sprintf("%064x", i),
			FetchedAt: time.UnixMicro(r.Int64N(2e15)).UTC(), Members: []page.URL{page.URL(fmt.Sprintf("https://example.com/%d", i))}, Inlinks: []Link{},
		}
		for n := range r.IntN(4) {
			d.Inlinks = append(d.Inlinks, Link{page.URL(fmt.Sprintf("https://a.example/%d", n)), d.URL, []string{"", "anchor", "文"}[r.IntN(3)]})
			d.Members = append(d.Members, page.URL(fmt.Sprintf("https://copy.example/%d", n)))
		}
		docs = append(docs, d)
	}
	return docs
}

func writeParquet[T any](t *testing.T, sink Sink[T], records []T) {
	t.Helper()
	for i := range records {
		if err := sink.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// What was written is what is read, over several row groups, and twice the same bytes.
func TestParquetReadBack(t *testing.T) {
	docs := parquetDocs(testenv.Random(t), 500)
	write := func() []byte {
		var out bytes.Buffer
		sink := NewParquetDocuments(&out)
		for i := range docs {
			if err := sink.Write(long(&docs[i])); err != nil {
				t.Fatal(err)
			}
			if i%200 == 199 {
				sink.(*parquetDocuments).rows.bytes = bytesInGroup // as if it had grown
			}
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	file := write()
	if !bytes.Equal(file, write()) {
		t.Error("the same documents are other bytes")
	}
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.RowGroups()); n != 3 {
		t.Errorf("%d row groups, want 3", n)
	}
	r := parquet.NewGenericReader[Document](bytes.NewReader(file))
	got := make([]Document, len(docs)+1)
	n, err := r.Read(got)
	if n != len(docs) || err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(n, err)
	}
	for i := range docs {
		if got[i].Inlinks == nil {
			got[i].Inlinks = []Link{} // Parquet does not distinguish these
		}
		got[i].FetchedAt = got[i].FetchedAt.UTC()
		if !reflect.DeepEqual(got[i], docs[i]) {
			t.Fatalf("read %+v, wrote %+v", got[i], docs[i])
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// longTexts returns documents with texts of a megabyte that hardly compress.
func longTexts(random *rand.Rand, n int) []Document {
	docs := parquetDocs(random, n)
	for i := range docs {
		text := make([]byte, 1<<20)
		for j := range text {
			text[j] = byte('a' + random.IntN(26))
		}
		docs[i].Text = string(text)
	}
	return docs
}

// A long text is only in the data: neither in the header of a page, because readers refuse headers
// that are long, nor in the footer, which readers read first. The column index bounds it nevertheless.
func TestParquetLongText(t *testing.T) {
	docs := longTexts(testenv.Random(t), 3)
	var file bytes.Buffer
	writeParquet(t, Sink[Document](listed{NewParquetDocuments(&file)}), docs)
	if most := len(docs)<<20 + 1<<16; file.Len() > most {
		t.Errorf("%d bytes for three texts of a MiB", file.Len())
	}
	f, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"text": docs[1].Text, "url": string(docs[1].URL), "content_key": docs[1].ContentKey} {
		leaf, _ := f.Schema().Lookup(name)
		index, err := f.RowGroups()[0].ColumnChunks()[leaf.ColumnIndex].ColumnIndex()
		if err != nil {
			t.Fatal(err)
		}
		inside := 0
		for i := range index.NumPages() {
			if string(index.MinValue(i).ByteArray()) <= value && value <= string(index.MaxValue(i).ByteArray()) {
				inside++
			}
		}
		if inside == 0 {
			t.Errorf("by the column index, no page has the %s %.20q", name, value)
		}
	}
}

// The writer keeps nothing of the texts of earlier row groups.
func TestParquetMemory(t *testing.T) {
	docs := longTexts(testenv.Random(t), 4)
	sink := NewParquetDocuments(io.Discard)
	group := func() (heap uint64) {
		for i := range docs {
			if i == len(docs)-1 {
				sink.(*parquetDocuments).rows.bytes = bytesInGroup // as if it had grown
			}
			if err := sink.Write(long(&docs[i])); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		runtime.GC() // what a pool has kept through the first one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	group()
	before, after := group(), uint64(0)
	for range 10 {
		after = group()
	}
	if most := before + 8<<20; after > most {
		t.Errorf("%d MiB after two row groups, %d after ten more, each with 4 MiB of text", before>>20, after>>20)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// Apache Arrow reads what JSONL has of the same documents and links.
func TestParquetReadByArrow(t *testing.T) {
	python := pythonWith(t, "pyarrow.parquet")
	r := testenv.Random(t)
	for _, n := range []int{0, 1, 300} {
		docs := parquetDocs(r, n)
		if n == 1 {
			docs[0].Text = strings.Repeat("long wörd ", 1<<19)
		}
		var links []Link
		for _, d := range docs {
			links = append(links, d.Inlinks...)
		}
		compareArrow(t, python, docs, func(w io.Writer) Sink[Document] { return listed{NewParquetDocuments(w)} })
		compareArrow(t, python, links, NewParquetLinks)
	}
}

func compareArrow[T any](t *testing.T, python string, records []T, open func(io.Writer) Sink[T]) {
	t.Helper()
	var file, lines bytes.Buffer
	writeParquet(t, open(&file), records)
	writeParquet(t, NewJSONL[T](&lines), records)
	dir := t.TempDir()
	for name, data := range map[string][]byte{"x.parquet": file.Bytes(), "x.jsonl": lines.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := runPython(t, python, "compare_parquet.py", filepath.Join(dir, "x.parquet"), filepath.Join(dir, "x.jsonl"))
	if want := fmt.Sprintf("%d rows, the same, ZSTD\n", len(records)); out != want && (len(records) > 0 || out != "0 rows, the same, \n") {
		t.Errorf("Arrow: %s", out)
	}
}
