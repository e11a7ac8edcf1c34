package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// The hammer: another process rewrites the whole index, one generation a transaction,
// while readers here search. Every document of a generation says which it is, so an
// answer that mixes two has seen half a state. No query may fail.

const (
	hammerDirEnv = "INDEX_HAMMER_TEST_DIR"
	hammerDocs   = 40
)

func hammerDoc(i, generation int) *Document {
	u := page.URL(fmt.Sprintf("https://host%d.example/%d", i%7, i))
	return &Document{
		Cluster: key(string(u)), Seq: uint64(generation) + 1, URL: u, Language: "en", Rank: 1,
		Title: fmt.Sprintf("Page of generation%d", generation), Text: fmt.Sprintf("always the word gen%d and number%d", generation, i),
		Members: []page.URL{u}, MembersTotal: 1,
	}
}

// hammerChild rewrites all documents until its standard input ends. Every third
// generation has only half of them.
func hammerChild() error {
	ctx := context.Background()
	w, err := OpenWriter(ctx, os.Getenv(hammerDirEnv), WriterOptions{})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, os.Stdin); ended <- err }()
	for generation := 0; ; generation++ {
		var list []Change
		for i := range hammerDocs {
			if d := hammerDoc(i, generation); generation%3 == 2 && i%2 == 1 {
				list = append(list, Delete(d.Cluster, d.Seq))
			} else {
				list = append(list, Upsert(d))
			}
		}
		if err := w.Apply(ctx, list); err != nil {
			return err
		}
		if generation == 0 {
			fmt.Println("open")
		}
		select {
		case err := <-ended:
			fmt.Println(generation)
			return errors.Join(err, w.Close())
		default:
		}
	}
}

func TestHammer(t *testing.T) {
	dir := t.TempDir()
	cmd := killtest.Role(t, "hammer", hammerDirEnv+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c := killtest.Start(t, cmd)
	c.Until("open")
	r := openTestReader(t, dir)
	queries := testenv.Size(50, 300, 3000)
	var wg sync.WaitGroup
	for worker := range 3 {
		wg.Go(func() {
			for i := range queries {
				if err := hammerQuery(t.Context(), r, (worker+i)%4); err != nil {
					t.Errorf("query %d of reader %d: %v", i, worker, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	line := c.Until("")
	if err := c.Failed(); err != "" {
		t.Fatal("the child failed: ", err)
	}
	generations, err := strconv.Atoi(line)
	if err != nil || generations < 3 {
		t.Fatalf("%q generations came by, which tells nothing (%v)", line, err)
	}
	t.Logf("%s generations", line)
}

// hammerQuery searches in one of several ways and looks whether all hits are of one
// generation, and as many as it has.
func hammerQuery(ctx context.Context, r *Reader, how int) error {
	o := []search.Options{{Limit: 100, Unfold: true}, {Limit: 100, Unfold: true, PerHost: 2}, {Limit: 100, Sort: search.ByDate}, {Limit: 100, Unfold: true, Explain: true}}[how]
	res, err := r.Search(ctx, "always word", o)
	if err != nil {
		return err
	}
	if res.Total != len(res.Hits) || res.Total != hammerDocs && res.Total != hammerDocs/2 {
		return fmt.Errorf("total %d, %d hits", res.Total, len(res.Hits))
	}
	for _, h := range res.Hits {
		_, generation, _ := strings.Cut(h.Title, "generation")
		n, err := strconv.Atoi(generation)
		if err != nil {
			return err
		}
		half := n%3 == 2
		if h.Title != res.Hits[0].Title || !strings.Contains(h.Snippet.Text, "gen"+generation+" ") || half != (res.Total == hammerDocs/2) {
			return fmt.Errorf("%s: title %q, snippet %q, beside %q, total %d", h.URL, h.Title, h.Snippet.Text, res.Hits[0].Title, res.Total)
		}
	}
	return nil
}
