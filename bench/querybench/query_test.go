package querybench

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

func TestQuantiles(t *testing.T) {
	var hundred []float64
	for i := range 100 {
		hundred = append(hundred, float64(100-i))
	}
	for _, c := range []struct {
		ms   []float64
		want Quantile
	}{
		{nil, Quantile{}},
		{[]float64{7}, Quantile{7, 7, 7, 7}},
		{[]float64{3, 1, 2}, Quantile{2, 3, 3, 3}},
		{hundred, Quantile{51, 91, 100, 100}},
	} {
		if got := quantiles(c.ms); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.ms, got, c.want)
		}
	}
	if got := (Quantile{2, 3, 4, 5}).over(Quantile{1, 2, 0, 10}); *got != (Quantile{2, 1.5, 0, 0.5}) {
		t.Errorf("quotients %+v", *got)
	}
}

// TestGenerate: the same documents in any number of shards, document i in shard i modulo shards.
func TestGenerate(t *testing.T) {
	const documents = 50
	all := func(shards int) (urls [][]page.URL, texts map[page.URL]string) {
		dirs, err := generateIndexes(t.Context(), t.TempDir(), documents, shards)
		if err != nil {
			t.Fatal(err)
		}
		texts = make(map[page.URL]string)
		for _, dir := range dirs {
			r, err := index.OpenReader(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var list []page.URL
			if err := r.Documents(t.Context(), func(d index.Document) error {
				list = append(list, d.URL)
				texts[d.URL] = d.Title + d.Text
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if err := r.Check(t.Context()); err != nil {
				t.Error(err)
			}
			urls = append(urls, list)
		}
		return urls, texts
	}
	one, text := all(1)
	three, sameText := all(3)
	if len(one) != 1 || len(one[0]) != documents || len(three) != 3 {
		t.Fatalf("%d and %d indexes, %d documents", len(one), len(three), len(one[0]))
	}
	for i, shard := range three {
		if want := (documents - i + 2) / 3; len(shard) != want {
			t.Errorf("shard %d has %d documents, want %d", i, len(shard), want)
		}
		for _, u := range shard {
			if !strings.HasPrefix(string(u), "https://host") || text[u] == "" || text[u] != sameText[u] {
				t.Errorf("%s of shard %d is another document", u, i)
			}
		}
	}
}

// temporary makes the bench put its files where the test can see them.
func temporary(t *testing.T) (dir string) {
	dir = t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir
}

func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestDocuments: generated documents, in one index and in shards that are compared with one.
func TestDocuments(t *testing.T) {
	for _, shards := range []int{1, 3} {
		dir := temporary(t)
		res, err := Run(t.Context(), Options{Documents: 60, Shards: shards, Queries: 25, Log: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if res.Documents != 60 || res.Shards != shards || res.Queries != 25 || res.Idle.P50 <= 0 || res.IdleCPU.Max <= 0 || res.Beside != nil || res.Ratio != nil {
			t.Errorf("%+v", res)
		}
		if compared := res.One != nil && res.One.P50 > 0 && res.OneCPU != nil && res.Sharded != nil && res.ShardedCPU != nil; compared != (shards > 1) {
			t.Errorf("%d shards: compared with one index: %v", shards, compared)
		}
		mustBeEmpty(t, dir)
	}
}

// TestQueriesAreTheSame each time, and each has an answer.
func TestQueriesAreTheSame(t *testing.T) {
	dirs, err := generateIndexes(t.Context(), t.TempDir(), 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{o: &Options{Queries: 30}}
	if b.readers, err = openReaders(dirs); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	}()
	first, n, err := b.queries(t.Context())
	if err != nil || n != 40 || len(first) != 30 {
		t.Fatalf("%d queries of %d documents, %v", len(first), n, err)
	}
	second, _, err := b.queries(t.Context())
	if err != nil || !slices.Equal(first, second) {
		t.Errorf("other queries: %v", err)
	}
	for _, q := range first {
		if words := len(strings.Fields(q)); words < 1 || words > 4 {
			t.Errorf("[%s] has %d words", q, words)
		}
		res, err := b.readers[0].Search(t.Context(), q, search.Options{})
		if err != nil || res.Total == 0 {
			t.Errorf("[%s]: %v", q, err)
		}
	}
}

// replayOf replaces the process that replays files: the first time it makes the index at once;
// later it runs until it is stopped, or as beside says.
func replayOf(t *testing.T, beside func(ctx context.Context) error) (func(context.Context, string) error, *atomic.Int32) {
	runs := new(atomic.Int32)
	return func(ctx context.Context, dir string) error {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if runs.Add(1) > 1 {
			return beside(ctx)
		}
		w, err := index.OpenWriter(ctx, repository.IndexDir(dir), index.WriterOptions{})
		if err != nil {
			return err
		}
		g := newGenerator()
		for i := range 250 {
			if err := w.Apply(ctx, []index.Change{index.Upsert(g.document(i))}); err != nil {
				return errors.Join(err, w.Close())
			}
		}
		return w.Close()
	}, runs
}

// TestQueryBesideReplay: each hundred queries run during a replay of their own, which is then
// stopped.
func TestQueryBesideReplay(t *testing.T) {
	dir := temporary(t)
	synctest.Test(t, func(t *testing.T) {
		replay, runs := replayOf(t, func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("killed")
		})
		res, err := Run(t.Context(), Options{Files: []string{"a.warc"}, Shards: 1, Queries: 230, Replay: replay, Log: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if res.Documents != 250 || res.Queries != 230 || res.Beside == nil || res.Ratio == nil || res.One != nil {
			t.Errorf("%+v", res)
		}
		if got := runs.Load(); got != 4 { // one to be asked, and one for each hundred
			t.Errorf("%d replays", got)
		}
	})
	mustBeEmpty(t, dir)
}

// TestReplayTooShort: if the replay ends first, there are no figures.
func TestReplayTooShort(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		beside func(context.Context) error
		want   string
	}{
		"over before":   {func(context.Context) error { return nil }, "before the queries began"},
		"failed before": {func(context.Context) error { return broken }, "broken"},
		"over meanwhile": {func(ctx context.Context) error {
			time.Sleep(replayStart + time.Nanosecond)
			return broken
		}, "before the queries were"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := temporary(t)
			synctest.Test(t, func(t *testing.T) {
				replay, _ := replayOf(t, c.beside)
				o := Options{Files: []string{"a.warc"}, Shards: 1, Queries: 5, Replay: replay, Log: io.Discard}
				b := &bench{o: &o, dir: dir}
				if err := replay(t.Context(), dir+"/first"); err != nil {
					t.Fatal(err)
				}
				err := b.withReplay(t.Context(), dir+"/beside", func(context.Context) error {
					time.Sleep(time.Second) // of fake time: the queries
					return nil
				})
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if _, err := os.Stat(dir + "/beside"); !errors.Is(err, os.ErrNotExist) {
					t.Error("the replay's directory is left behind:", err)
				}
			})
		})
	}
}
