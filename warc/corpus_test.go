package warc

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
)

const corpus = "../../shared/corpus"

func corpusFiles(t testing.TB, label string) []string {
	needShared(t, corpus)
	files, err := filepath.Glob(filepath.Join(corpus, label, "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Skipf("no files of %s: %v", label, err)
	}
	return files
}

// TestCorpus counts the records of three crawls of six sites; the numbers are those
// of the corpus' manifest.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 34 MB")
	}
	responses, fetches := 0, 0
	for _, file := range corpusFiles(t, "t0") {
		fs, r := readAll(t, file, Options{})
		stats := r.Stats()
		responses += stats.Records["response"]
		fetches += len(fs)
		if stats.Problems != 0 || stats.Failed != 0 || stats.Bytes != stats.Size {
			t.Errorf("%s: %+v %v", file, stats, r.Problems())
		}
	}
	if responses != 6710 || fetches != 6710 {
		t.Errorf("%d responses and %d fetches, want 6710 of each", responses, fetches)
	}
	for _, label := range []string{"t1", "t2"} {
		revisits := 0
		for _, file := range corpusFiles(t, label) {
			_, r := readAll(t, file, Options{})
			revisits += r.Stats().Records["revisit"]
			if r.Stats().Problems != 0 {
				t.Errorf("%s: %v", file, r.Problems())
			}
		}
		if revisits == 0 {
			t.Errorf("%s has no revisits", label)
		}
	}
}

// BenchmarkFetches reads the t0 crawl; bytes are those of the compressed files.
// BenchmarkGunzip is the floor: decompressing the same files.
func BenchmarkFetches(b *testing.B) {
	files := corpusFiles(b, "t0")
	for _, bench := range []struct {
		name string
		opts Options
	}{{"digests", Options{}}, {"nodigests", Options{NoDigests: true}}} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(totalSize(b, files))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, file := range files {
					fs, _ := countFetches(b, file, bench.opts)
					n += fs
				}
				if n != 6710 {
					b.Fatal(n)
				}
			}
		})
	}
}

func BenchmarkGunzip(b *testing.B) {
	files := corpusFiles(b, "t0")
	b.SetBytes(totalSize(b, files))
	for b.Loop() {
		for _, file := range files {
			f, err := os.Open(file)
			if err != nil {
				b.Fatal(err)
			}
			z, err := gzip.NewReader(f)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, z); err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	}
}

func countFetches(b *testing.B, file string, opts Options) (int, Stats) {
	r, err := Open(file, opts)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	n := 0
	for _, err := range r.Fetches() {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	return n, r.Stats()
}

func totalSize(b *testing.B, files []string) (n int64) {
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		n += info.Size()
	}
	return n
}
