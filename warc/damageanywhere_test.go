package warc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestDamageAnywhere damages one record at random: it inverts bytes, cuts off one end of it, or cuts out or
// inserts a part. The other records are read as they are.
func TestDamageAnywhere(t *testing.T) {
	fresh := testenv.Fresh(t)
	for i := range testenv.Size(50, 150, 5000) {
		seed, only := testenv.FirstSeed(t, fresh+uint64(i))
		f := damagedFile{random: rand.New(rand.NewPCG(seed, 0))}
		f.make(t)
		if f.hidden {
			continue
		}
		r := NewReader(strings.NewReader(f.file), "test", Options{})
		got := map[string][]string{}
		for fetch, err := range r.Fetches() {
			if err != nil {
				t.Fatal(err)
			}
			name := describe(fetch)
			got[name] = append(got[name], string(fetch.Body))
		}
		for n, body := range f.bodies {
			if name := fmt.Sprint(n); n != f.victim && !slices.Equal(got[name], []string{body}) {
				t.Errorf("INDEXER_SEED=%d: record %s was read %d times, or not as it is; record %d is damaged: %v", seed, name, len(got[name]), f.victim, r.Problems())
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if only || t.Failed() {
			return
		}
	}
}

// damagedFile is a file with one damaged record.
type damagedFile struct {
	random *rand.Rand
	bodies []string
	victim int
	file   string

	missing int // bytes of the victim
	// hidden: as many bytes are missing as the next records have, or the empty lines after them as well,
	// which some writers leave out. They may count as the rest of its block, which nobody can tell from a
	// page that quotes records.
	hidden bool
}

func (f *damagedFile) make(t *testing.T) {
	pack := []func(string) string{
		func(record string) string { return record },
		func(record string) string { return gz(record) },
		func(record string) string { return zst(t, nil, record) },
	}[f.random.IntN(3)]
	n := 3 + f.random.IntN(5)
	f.victim = f.random.IntN(n)
	after := 0 // bytes of the records after the victim
	for i := range n {
		block := html(f.text(i))
		more := ""
		if f.random.IntN(3) == 0 {
			more = "WARC-Block-Digest: " + Digest([]byte(block)) + "\r\n"
		}
		_, body, _ := strings.Cut(block, "\r\n\r\n")
		f.bodies = append(f.bodies, body)
		member := pack(recordWith(fmt.Sprint(i), int64(len(block)), block, more))
		if i == f.victim {
			whole := len(member)
			member = f.damage(member)
			f.missing = whole - len(member)
		} else if i > f.victim {
			after += len(member)
			f.hidden = f.hidden || after <= f.missing && f.missing <= after+len("\r\n\r\n")
		}
		f.file += member
	}
}

// text returns noise, empty lines or words.
func (f *damagedFile) text(i int) string {
	size := []int{10, 200, 5000, 300_000}[f.random.IntN(4)]
	switch f.random.IntN(3) {
	case 0:
		return f.noise(size)
	case 1:
		return strings.Repeat(fmt.Sprintf("line %d\r\n\r\n", i), size/10+1)
	}
	return strings.Repeat(fmt.Sprintf("word%d ", i), size/6+1)
}

func (f *damagedFile) noise(size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(f.random.Uint32())
	}
	return string(b)
}

func (f *damagedFile) damage(s string) string {
	from := f.random.IntN(len(s))
	to := from + f.random.IntN(len(s)-from)
	switch f.random.IntN(5) {
	case 0:
		return flip(flip(s, from), to)
	case 1:
		return s[:from]
	case 2:
		return s[from:]
	case 3:
		return s[:from] + s[to:]
	}
	return s[:from] + f.noise(f.random.IntN(1000)) + s[from:]
}
