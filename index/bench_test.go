package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// vocabulary makes generated text behave like text: words by Zipf's law, English
// endings so that stemming has work to do.
type vocabulary struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newVocabulary(seed uint64) *vocabulary {
	rng := rand.New(rand.NewPCG(seed, 1))
	v := &vocabulary{rng: rng, zipf: rand.NewZipf(rng, 1.1, 8, 29_999)}
	syllables := strings.Fields("con sum er pro duc top ic off set re bal ance par ti tion lead fol low rep li ca tor log seg ment in dex page rank link crawl web")
	endings := strings.Fields("s ing ed er ation ly ness ment able able - - - - -")
	for range 30_000 {
		var w strings.Builder
		for range 1 + rng.IntN(3) {
			w.WriteString(syllables[rng.IntN(len(syllables))])
		}
		if e := endings[rng.IntN(len(endings))]; e != "-" {
			w.WriteString(e)
		}
		v.words = append(v.words, w.String())
	}
	return v
}

func (v *vocabulary) text(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(v.words[v.zipf.Uint64()])
		if v.rng.IntN(12) == 0 {
			b.WriteString(". ")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func (v *vocabulary) document(i int, seq uint64) *Document {
	u := page.URL(fmt.Sprintf("https://site%d.example.org/docs/%s/page-%d.html", i%50, v.words[v.rng.IntN(1000)], i))
	d := &Document{
		Cluster: key(fmt.Sprint("doc", i)), Seq: seq, URL: u, Language: "en", Title: v.text(40), Text: v.text(5 << 10),
		FetchedAt: time.Unix(1_700_000_000+int64(i), 0), Rank: 0.15 + v.rng.ExpFloat64(), Members: []page.URL{u}, MembersTotal: 1, Inlinks: 8,
	}
	for range 8 {
		d.Anchors = append(d.Anchors, Anchor{Text: v.text(20), Count: 1})
	}
	return d
}

func generate(n int, seq uint64) []Change {
	v := newVocabulary(1)
	var list []Change
	for i := range n {
		list = append(list, Upsert(v.document(i, seq)))
	}
	return list
}

// BenchmarkAnalyze is the CPU of analysis alone, documents of 5 KiB.
func BenchmarkAnalyze(b *testing.B) {
	docs := generate(200, 1)
	b.ReportAllocs()
	b.SetBytes(int64(len(docs[0].Doc.Text)))
	for i := 0; b.Loop(); i++ {
		textOf(docs[i%len(docs)].Doc, &page.Outline{}).Analyze()
	}
}

func BenchmarkPack(b *testing.B) {
	docs := generate(200, 1)
	b.SetBytes(int64(len(docs[0].Doc.Text)))
	var in, out int
	for i := 0; b.Loop(); i++ {
		t := docs[i%len(docs)].Doc.Text
		head, _ := pack(t)
		in, out = in+len(t), out+len(head)
	}
	b.ReportMetric(float64(in)/float64(out), "ratio")
}

// BenchmarkBulkIndex is the floor for the pipeline: Apply in batches of 1000
// documents of 5 KiB into an empty index, one caller; one op is one document.
func BenchmarkBulkIndex(b *testing.B) { benchmarkBulk(b, 1000, 4000) }

// BenchmarkBatch20 is the same in batches of 20.
func BenchmarkBatch20(b *testing.B) { benchmarkBulk(b, 20, 2000) }

func benchmarkBulk(b *testing.B, batch, total int) {
	docs := generate(total, 1)
	n := 0
	var w *Writer
	begun := time.Now()
	for b.Loop() {
		if n%total == 0 {
			b.StopTimer()
			if w != nil {
				w.Close()
			}
			w = openTestWriter(b, b.TempDir())
			b.StartTimer()
		}
		n++
		if n%batch == 0 {
			at := (n - batch) % total
			apply(b, w, docs[at:at+batch]...)
		}
	}
	b.ReportMetric(float64(n)/time.Since(begun).Seconds(), "docs/s")
}

func loadedIndex(b *testing.B, n int) (*Writer, string) {
	dir := b.TempDir()
	w := openTestWriter(b, dir)
	docs := generate(n, 1)
	for len(docs) > 0 {
		k := min(1000, len(docs))
		apply(b, w, docs[:k]...)
		docs = docs[k:]
	}
	return w, dir
}

// BenchmarkUpsert is one changed document at a time into an index of 5,000.
func BenchmarkUpsert(b *testing.B) {
	w, _ := loadedIndex(b, 5000)
	v := newVocabulary(2)
	var docs []*Document
	for i := range 500 {
		docs = append(docs, v.document(i*10, 0))
	}
	for i := 0; b.Loop(); i++ {
		d := *docs[i%len(docs)]
		d.Seq = uint64(i + 2)
		d.Title = fmt.Sprint(d.Title, i)
		apply(b, w, Upsert(&d))
	}
}

// BenchmarkReexport is an unchanged document with a newer Seq.
func BenchmarkReexport(b *testing.B) {
	w, _ := loadedIndex(b, 1000)
	docs := generate(1000, 2)
	for i := 0; b.Loop(); i++ {
		d := *docs[i%len(docs)].Doc
		d.Seq = uint64(i + 2)
		apply(b, w, Upsert(&d))
	}
}

// BenchmarkSetRanks is the ranks of 5,000 documents at once.
func BenchmarkSetRanks(b *testing.B) {
	w, _ := loadedIndex(b, 5000)
	seq := uint64(1)
	for b.Loop() {
		seq++
		var list []RankUpdate
		for i := range 5000 {
			list = append(list, RankUpdate{key(fmt.Sprint("doc", i)), seq, float64(i)})
		}
		if err := w.SetRanks(b.Context(), list); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch is queries of 1 to 4 words on 5,000 documents, with snippets.
func BenchmarkSearch(b *testing.B) {
	_, dir := loadedIndex(b, 5000)
	r := openTestReader(b, dir)
	for _, words := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("words=%d", words), func(b *testing.B) {
			v := newVocabulary(3)
			var queries []string
			for range 200 {
				var q []string
				for range words {
					q = append(q, v.words[v.rng.IntN(3000)])
				}
				queries = append(queries, strings.Join(q, " "))
			}
			for i := 0; b.Loop(); i++ {
				if _, err := r.Search(b.Context(), queries[i%len(queries)], search.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
