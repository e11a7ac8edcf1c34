package querybench

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/page"
)

// generateIndexes fills shards with documents of some 4 KB of text, whose words have the
// frequencies of running text (Zipf–Mandelbrot, 200,000 different ones); document i is in shard i mod shards.
func generateIndexes(ctx context.Context, dir string, documents, shards int) (dirs []string, err error) {
	var writers []*index.Writer
	defer func() {
		for _, w := range writers {
			err = errors.Join(err, w.Close())
		}
	}()
	for i := range shards {
		d := filepath.Join(dir, fmt.Sprint("shard", i))
		w, err := index.OpenWriter(ctx, d, index.WriterOptions{})
		if err != nil {
			return nil, err
		}
		writers, dirs = append(writers, w), append(dirs, d)
	}
	g := newGenerator()
	batches := make([][]index.Change, shards)
	for i := range documents {
		s := i % shards
		batches[s] = append(batches[s], index.Upsert(g.document(i)))
		if len(batches[s]) == measure.BatchSize || i+shards >= documents {
			if err := writers[s].Apply(ctx, batches[s]); err != nil {
				return nil, err
			}
			batches[s] = nil
		}
	}
	return dirs, nil
}

// generator makes text up, the same each time.
type generator struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newGenerator() *generator {
	const vocabulary = 200_000
	rng := rand.New(rand.NewPCG(7, 7))
	g := &generator{rng: rng, zipf: rand.NewZipf(rng, 1.08, 3, vocabulary-1)}
	parts := strings.Fields("ka lo mi ne ru sta ter ing vel dor pan qui tho ble gra nu sh al em or ist ova tur ched lin")
	for i := range vocabulary {
		var w strings.Builder
		for n := i + 1; n > 0; n /= len(parts) { // each number another word, frequent ones short
			w.WriteString(parts[n%len(parts)])
		}
		g.words = append(g.words, w.String())
	}
	return g
}

func (g *generator) text(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(g.words[g.zipf.Uint64()])
		b.WriteByte(' ')
	}
	return b.String()
}

func (g *generator) document(i int) *index.Document {
	u := page.URL(fmt.Sprintf("https://host%d.example/%s/%d", i%997, g.words[g.rng.IntN(5000)], i))
	d := &index.Document{
		Cluster: page.ContentKey(sha256.Sum256([]byte(u))), Seq: 1, URL: u, Language: "en",
		Title: g.text(40), Text: g.text(2000 + g.rng.IntN(4000)), Rank: 0.15 + g.rng.ExpFloat64(),
		Members: []page.URL{u}, MembersTotal: 1, Inlinks: 5,
	}
	for range 5 {
		d.Anchors = append(d.Anchors, index.Anchor{Text: g.text(20), Count: 1 + g.rng.IntN(5), Others: g.rng.IntN(2)})
	}
	return d
}
