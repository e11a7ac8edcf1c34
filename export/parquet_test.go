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

// A long text is in the data and twice in the footer, but not in the header of a page: readers refuse
// headers that are long.
func TestParquetLongText(t *testing.T) {
	random := testenv.Random(t)
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = byte('a' + random.IntN(26))
	}
	docs := parquetDocs(random, 1)
	docs[0].Text = string(text)
	var file bytes.Buffer
	writeParquet(t, Sink[Document](listed{NewParquetDocuments(&file)}), docs)
	if most := 4 * len(text); file.Len() > most {
		t.Errorf("%d bytes for a text of %d, want at most %d", file.Len(), len(text), most)
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
