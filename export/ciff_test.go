package export

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/webindexer/indexer/internal/testenv"
)

// ciffDocs returns a small collection, random but for its seed.
func ciffDocs(r *rand.Rand, n int) (names []string, docs []map[string]int) {
	for i := range n {
		terms := make(map[string]int)
		for range r.IntN(30) {
			terms[[]string{"a", "b", "ab", "日本", "ümlaut", "z9", "a-", "aa"}[r.IntN(8)]+strings.Repeat("x", r.IntN(3))] += 1 + r.IntN(300)
		}
		names, docs = append(names, fmt.Sprintf("https://example.com/%03d", i)), append(docs, terms)
	}
	return names, docs
}

func writeCIFF(t *testing.T, limit int, names []string, docs []map[string]int) []byte {
	t.Helper()
	dir := t.TempDir()
	c, err := NewCIFF(dir, limit, "a test")
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		if err := c.Add(names[i], docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if n, err := c.WriteTo(&out); err != nil || n != int64(out.Len()) {
		t.Fatal(n, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	return out.Bytes()
}

// ciffText returns what a reader of the file should make of a collection: see
// testdata/read_ciff.py, which prints it.
func ciffText(names []string, docs []map[string]int) string {
	postings := make(map[string][]string)
	cf := make(map[string]int)
	total := 0
	var records strings.Builder
	for i, terms := range docs {
		length := 0
		for term, tf := range terms {
			postings[term] = append(postings[term], fmt.Sprintf("%d:%d", i, tf))
			cf[term] += tf
			length += tf
		}
		fmt.Fprintf(&records, "%d %s %d\n", i, names[i], length)
		total += length
	}
	var terms []string
	for term := range postings {
		terms = append(terms, term)
	}
	sort.Strings(terms)
	var b strings.Builder
	average := 0.0
	if len(docs) > 0 {
		average = float64(total) / float64(len(docs))
	}
	fmt.Fprintf(&b, "version 1 lists %d %d docs %d %d terms %d average %.9f: a test\n", len(terms), len(terms), len(docs), len(docs), total, average)
	for _, term := range terms {
		fmt.Fprintf(&b, "%s df %d cf %d %s\n", term, len(postings[term]), cf[term], strings.Join(postings[term], " "))
	}
	return b.String() + records.String()
}

// Neither records that do not fit into memory nor the order of maps change a byte.
func TestCIFFIsTheSameWithLittleMemory(t *testing.T) {
	names, docs := ciffDocs(testenv.Random(t), 200)
	want := writeCIFF(t, 0, names, docs)
	for range 3 {
		if got := writeCIFF(t, 500, names, docs); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, and %d with other ones", len(want), len(got))
		}
	}
}

// The fields, taken apart here, are what went in; Python, below, may be missing.
func TestCIFFReadBack(t *testing.T) {
	r := testenv.Random(t)
	for _, n := range []int{0, 1, 100} {
		names, docs := ciffDocs(r, n)
		if got, want := readCIFF(t, writeCIFF(t, 2000, names, docs)), ciffText(names, docs); got != want {
			t.Errorf("%d documents: read\n%s\nwant\n%s", n, got, want)
		}
	}
}

// message is a message as it is on the wire: the values of each field.
type message map[protowire.Number][]any

func (m message) number(field protowire.Number) uint64 {
	if len(m[field]) == 0 {
		return 0
	}
	return m[field][0].(uint64)
}

func (m message) text(field protowire.Number) string {
	if len(m[field]) == 0 {
		return ""
	}
	return string(m[field][0].([]byte))
}

func parseMessage(t *testing.T, b []byte) message {
	t.Helper()
	m := make(message)
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var v any
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("a field of the kind %d", kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		m[field], b = append(m[field], v), b[n:]
	}
	return m
}

func readCIFF(t *testing.T, file []byte) string {
	t.Helper()
	next := func() message {
		b, n := protowire.ConsumeBytes(file)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		file = file[n:]
		return parseMessage(t, b)
	}
	var b strings.Builder
	h := next()
	fmt.Fprintf(&b, "version %d lists %d %d docs %d %d terms %d average %.9f: %s\n", h.number(1), h.number(2), h.number(4), h.number(3), h.number(5),
		h.number(6), math.Float64frombits(h.number(7)), h.text(8))
	for range h.number(2) {
		l := next()
		fmt.Fprintf(&b, "%s df %d cf %d", l.text(1), l.number(2), l.number(3))
		doc := uint64(0)
		for _, p := range l[4] {
			posting := parseMessage(t, p.([]byte))
			doc += posting.number(1)
			fmt.Fprintf(&b, " %d:%d", doc, posting.number(2))
		}
		b.WriteByte('\n')
	}
	for range h.number(3) {
		d := next()
		fmt.Fprintln(&b, d.number(1), d.text(2), d.number(3))
	}
	if len(file) > 0 {
		t.Errorf("%d bytes are left over", len(file))
	}
	return b.String()
}

// Google's Python library reads the file by the published definition of the format.
func TestCIFFReadByPython(t *testing.T) {
	python := pythonWith(t, "google.protobuf")
	r := testenv.Random(t)
	for _, n := range []int{0, 1, 300} {
		names, docs := ciffDocs(r, n)
		file := filepath.Join(t.TempDir(), "index.ciff")
		if err := os.WriteFile(file, writeCIFF(t, 2000, names, docs), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, want := runPython(t, python, "read_ciff.py", file), ciffText(names, docs); got != want {
			t.Errorf("%d documents: Python reads\n%s\nwant\n%s", n, got, want)
		}
	}
}

// A term with a zero byte would be another term.
func TestCIFFRefusesZeroBytes(t *testing.T) {
	c, err := NewCIFF(t.TempDir(), 0, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add("https://example.com/", map[string]int{"a\x00b": 1}); err == nil {
		t.Error("a term with a zero byte is taken")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
