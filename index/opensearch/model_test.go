package opensearch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/page"
)

// history is what a pipeline sends, in order. Clusters change, disappear and come back, and
// URLs move between them; in every state a URL belongs to one cluster.
type history struct {
	changes []index.Change
	ranks   []index.RankUpdate
	touches []index.Touch
}

var vocabulary = strings.Fields(`lighthouse keeper museum harbour storm lamp lens fog signal island boat rope anchor chart
	tide reef gull wreck cliff beacon tower stairs oil wick brass clock letter winter summer night morning keepers lamps storms
	light's Leuchtturm Wärter Küste 灯台 海岸 the of and`)

func words(rnd *rand.Rand, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = vocabulary[rnd.IntN(len(vocabulary))]
	}
	return strings.Join(list, " ")
}

func randomHistory(rnd *rand.Rand, steps int) (h history) {
	const clusters = 40
	holder := make(map[page.URL]int) // URL → cluster
	shown := make(map[int]*index.Document)
	for seq := uint64(1); seq <= uint64(steps); seq++ {
		n := rnd.IntN(clusters)
		key := page.ContentKey{0: byte(n), 31: 1}
		old := shown[n]
		if old != nil && rnd.IntN(4) == 0 {
			h.changes = append(h.changes, index.Delete(key, seq))
			delete(holder, old.URL)
			delete(shown, n)
			continue
		}
		u := page.URL(fmt.Sprintf("https://host%d.example/%s/%d.html", rnd.IntN(6), vocabulary[rnd.IntN(8)], rnd.IntN(20)))
		if other, taken := holder[u]; taken && other != n {
			continue
		}
		if old != nil {
			delete(holder, old.URL)
		}
		d := &index.Document{
			Cluster: key, Seq: seq, URL: u, Title: words(rnd, rnd.IntN(5)), Text: words(rnd, rnd.IntN(80)), Language: []string{"en", "de", "ja", ""}[rnd.IntN(4)],
			FetchedAt: time.Unix(1_700_000_000+int64(seq)*86_400, 0).UTC(), Rank: math.Round(rnd.Float64()*100) / 10,
			Members: []page.URL{u, u + "?print"}, MembersTotal: 2, Inlinks: rnd.IntN(9),
		}
		if n := len(d.Text); n > 60 && rnd.IntN(2) == 0 { // main content between blanks
			from, to := strings.IndexByte(d.Text[10:], ' ')+10, strings.LastIndexByte(d.Text, ' ')
			d.Outline = (&page.Outline{Main: []page.Range{{Start: from + 1, End: to}}}).Encode()
		}
		for range rnd.IntN(3) {
			d.Anchors = append(d.Anchors, index.Anchor{Text: words(rnd, 1+rnd.IntN(3)), Count: 1 + rnd.IntN(4), Others: rnd.IntN(2)})
		}
		d.Digest = [8]byte{byte(seq), byte(seq >> 8), byte(n)}
		holder[u], shown[n] = n, d
		h.changes = append(h.changes, index.Upsert(d))
	}
	// What follows is of documents that stay, as the pipeline sends it again for others.
	for n, d := range shown {
		for i := range rnd.IntN(3) {
			h.ranks = append(h.ranks, index.RankUpdate{Cluster: d.Cluster, Seq: uint64(steps + i + 1), Rank: float64(n) + float64(i)/2})
			h.touches = append(h.touches, index.Touch{Cluster: d.Cluster, URL: d.URL, FetchedAt: d.FetchedAt.Add(time.Duration(i+1) * 100 * 24 * time.Hour)})
		}
	}
	return h
}

// inOrder sends everything to index files.
func (h *history) inOrder(t *testing.T, w *index.Writer) {
	t.Helper()
	if err := w.Apply(t.Context(), h.changes); err != nil {
		t.Fatal(err)
	}
	if err := w.SetRanks(t.Context(), h.ranks); err != nil {
		t.Fatal(err)
	}
	if missing, err := w.Touch(t.Context(), h.touches); err != nil || len(missing) > 0 {
		t.Fatalf("touch: missing %v, %v", missing, err)
	}
}

// inAnyOrder sends everything to the server, shuffled, some of it twice, from several
// goroutines. Only times need their documents.
func (h *history) inAnyOrder(ctx context.Context, rnd *rand.Rand, x *Index) error {
	changes := slices.Concat(h.changes, h.changes[:len(h.changes)/2])
	rnd.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	ranks := slices.Concat(h.ranks, h.ranks)
	rnd.Shuffle(len(ranks), func(i, j int) { ranks[i], ranks[j] = ranks[j], ranks[i] })
	touches := slices.Concat(h.touches, h.touches)
	rnd.Shuffle(len(touches), func(i, j int) { touches[i], touches[j] = touches[j], touches[i] })
	var work sync.WaitGroup
	errs := make(chan error, 1000)
	send := func(do func() error) {
		work.Go(func() {
			if err := do(); err != nil {
				errs <- err
			}
		})
	}
	for part := range slices.Chunk(changes, 1+len(changes)/5) {
		send(func() error {
			for some := range slices.Chunk(part, 7) {
				if err := x.Apply(ctx, some); err != nil {
					return err
				}
			}
			return nil
		})
	}
	send(func() error { return x.SetRanks(ctx, ranks) })
	work.Wait()
	missing, err := x.Touch(ctx, touches)
	if len(missing) > 0 {
		err = errors.Join(err, fmt.Errorf("no documents for %v", missing))
	}
	close(errs)
	for e := range errs {
		err = errors.Join(err, e)
	}
	return err
}

// sameDocuments compares all documents, and the sums.
func sameDocuments(t *testing.T, x *Index, r *index.Reader) {
	t.Helper()
	list := func(v interface {
		Documents(context.Context, func(index.Document) error) error
	}) map[page.ContentKey]index.Document {
		found := make(map[page.ContentKey]index.Document)
		err := v.Documents(t.Context(), func(d index.Document) error {
			found[d.Cluster] = d
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	theirs, err := x.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	ours, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	if a, b := theirs.State(), ours.State(); a.Documents != b.Documents || a.Sum != b.Sum {
		t.Errorf("OpenSearch has %d documents with the sum %x, the files %d with %x", a.Documents, a.Sum, b.Documents, b.Sum)
	}
	got, want := list(theirs), list(ours)
	for key, w := range want {
		if g := got[key]; fmt.Sprint(g) != fmt.Sprint(w) {
			t.Errorf("cluster %x is on OpenSearch\n%+v\nand in the files\n%+v", key[:1], g, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d documents, want %d", len(got), len(want))
	}
	if err := theirs.Check(t.Context()); err != nil {
		t.Error(err)
	}
	entries := 0
	for e, err := range theirs.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if d := want[e.Cluster]; d.URL != e.URL || d.Rank != e.Rank || !d.FetchedAt.Equal(e.FetchedAt) || d.Digest != e.Digest {
			t.Errorf("entry %+v of %+v", e, d)
		}
		entries++
	}
	if entries != len(want) {
		t.Errorf("%d entries, want %d", entries, len(want))
	}
}
