package badgerdb

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
)

// BenchmarkBulk writes what loading pages writes, in sizes and numbers: values that are
// compressed already, small cells of other rows, and cells that come and go. Each
// iteration is a page. It reports how many bytes reach the disk for each byte that is
// written to the table, and for each that is kept in the end. Try -benchtime 50000x.
func BenchmarkBulk(b *testing.B) {
	before, known := diskWritten()
	if !known {
		b.Skip("skipped: this system does not tell what was written to the disk")
	}
	db := openTest(b, b.TempDir(), Options{MemoryBytes: 200 << 20})
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range b.N {
		for _, rows := range bulkPage(rnd, i) {
			if err := db.Apply(b.Context(), rows); err != nil {
				b.Fatal(err)
			}
		}
	}
	logical := db.Stats().Bytes
	closeTest(b, db)
	kept, err := db.DiskBytes()
	if err != nil {
		b.Fatal(err)
	}
	after, _ := diskWritten()
	b.ReportMetric(float64(after-before)/float64(logical), "written/byte")
	b.ReportMetric(float64(after-before)/float64(kept), "written/kept")
}

// bulkPage returns what a page writes at first, and what it writes when its observers have run.
func bulkPage(rnd *rand.Rand, page int) (writes [2][]store.RowMutation) {
	url := func(i int) []byte {
		return fmt.Appendf(nil, "org.apache%d.kafka/https/documentation/section-%d/page-%06d.html", i%17, i%31, i)
	}
	noise := func(n int) []byte {
		value := make([]byte, n)
		for i := range value {
			value[i] = byte(rnd.Uint32())
		}
		return value
	}
	row, ts := url(page), uint64(10*page+1)
	put := func(row []byte, group, column string, value []byte) {
		m := store.Mutation{Group: group, Column: []byte(column), TS: ts, Value: value}
		writes[0] = append(writes[0], store.RowMutation{Row: row, Mutations: []store.Mutation{m}})
	}
	for column, size := range map[string]int{"body": 4700, "text": 2000 + rnd.IntN(2000), "links": 800, "state": 300, "walk": 150} {
		put(row, "data", column, noise(size))
	}
	for range 21 { // links
		put(append(append(url(rnd.IntN(page+1)), 0), row...), "data", "a", []byte("the text of an anchor"))
	}
	for range 10 { // ranks of others
		put(url(rnd.IntN(page+1)), "data", "rank", noise(40))
	}
	for i := range 12 { // notifications
		column := fmt.Sprint("n", i)
		put(row, "last", column, nil)
		m := store.Mutation{Op: store.Delete, Group: "last", Column: []byte(column), TS: ts}
		writes[1] = append(writes[1], store.RowMutation{Row: row, Mutations: []store.Mutation{m}})
	}
	return writes
}

// diskWritten is how many bytes this process has written to disks.
func diskWritten() (n int64, known bool) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if number, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			n, err = strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
