package warc

import (
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestMixedMembers reads files of plain records, gzip members and zstd frames in random order, with one or
// several records in each, and bodies that are compressed themselves: as a file and as a pipe.
func TestMixedMembers(t *testing.T) {
	fresh := testenv.Fresh(t)
	for i := range testenv.Size(20, 60, 2000) {
		seed, only := testenv.FirstSeed(t, fresh+uint64(i))
		file, want := mixedFile(t, rand.New(rand.NewPCG(seed, 1)))
		for _, src := range []io.Reader{strings.NewReader(file), onlyReader{strings.NewReader(file)}} {
			r := NewReader(src, "test", Options{})
			var got []string
			for fetch, err := range r.Fetches() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, describe(fetch)+" "+string(fetch.Body))
			}
			if !slices.Equal(got, want) {
				t.Errorf("INDEXER_SEED=%d: %d of %d records are read as they are: %v", seed, len(got), len(want), r.Problems())
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if only || t.Failed() {
			return
		}
	}
}

// mixedFile returns a file, and the name and body of each of its records.
func mixedFile(t *testing.T, random *rand.Rand) (file string, want []string) {
	pack := []func(string) string{
		func(s string) string { return s },
		func(s string) string { return gz(s) },
		func(s string) string { return zst(t, nil, s) },
	}
	texts := damagedFile{random: random}
	member := ""
	for i := range 2 + random.IntN(6) {
		name, body := strconv.Itoa(i), "<p>"+texts.text(i)
		coding := random.IntN(len(pack))
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: " + []string{"identity", "gzip", "zstd"}[coding] + "\r\n\r\n" + pack[coding](body)
		want = append(want, name+" "+body)
		member += record(name, block)
		if random.IntN(4) > 0 {
			file += pack[random.IntN(len(pack))](member)
			member = ""
		}
	}
	return file + member, want
}
