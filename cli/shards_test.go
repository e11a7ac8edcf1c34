package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/shardrpc"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store/mem"
)

// shardQueries run on one index and on its shards.
var shardQueries = []string{"lighthouse", "lighthouse museum", "bread OR harbour", "site:lighthouse.example", "lihgthouse", "museum --sort date", "nothingofthatkind"}

// answers are what queries give, without the parts that differ between machines and runs.
func answers(t *testing.T, args ...string) (list []string) {
	t.Helper()
	for _, q := range shardQueries {
		out := runIndexer(t, append(append(args, "--format", "json", "query"), strings.Fields(q)...)...)
		var res map[string]any
		if err := json.Unmarshal([]byte(out), &res); err != nil {
			t.Fatalf("%s: %v: %s", q, err, out)
		}
		delete(res, "took_ms")
		for _, h := range res["hits"].([]any) {
			delete(h.(map[string]any), "indexed_at")
		}
		b, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(b))
	}
	return list
}

// shardedFleet is a deployment whose workers divide the shards of the index files.
type shardedFleet struct {
	*fleet
	crawl  crawl
	merged []string // the answers of all shards, merged over the network
}

// worker starts a worker, and waits until it has a shard or the index.
func (f *shardedFleet) worker(data string, more ...string) *child {
	f.t.Helper()
	w := startChild(f.t, "", f.args(data, append([]string{"worker", "--workers", "2"}, more...)...)...)
	w.Until("this process now holds a lease\t{\"lease\": \"index")
	return w
}

// TestShardedDeployment: two workers divide four shards of the index files, and one is killed
// while pages are loaded. Queries, merged over the network and then from directories, give
// what one index of the same store gives. If a shard is nowhere, they say so.
func TestShardedDeployment(t *testing.T) {
	if testing.Short() || testenv.Long() {
		t.Skip("starts a database and several processes, for a small web")
	}
	f := &shardedFleet{crawl: recordedCrawl(t), fleet: newFleet(t)}
	two := f.loadWhileWorkerDies()
	f.merged = answers(t, f.args("reader")...)
	if strings.Contains(f.merged[0], `"total":0`) {
		t.Errorf("%s finds nothing", shardQueries[0])
	}
	runIndexer(t, f.args("two", "verify")...)
	runIndexer(t, f.args("reader", "reindex")...)
	sameAnswers(t, "after reindex", answers(t, f.args("reader")...), f.merged)
	wantRefused(t, "divided into another number of shards", f.args("other", "worker", "--index-shards", "2")...)
	wantRefused(t, "divided into another number of shards", f.args("reader", "query", "lighthouse", "--index-shards", "8")...)
	f.searchWithoutDatabase(two)
	data := filepath.Join(f.dir, "two")
	sameAnswers(t, "from directories", answers(t, "--data", data), f.merged)
	f.searchWithoutShard(data)
	f.searchMixedFiles(data)
}

// loadWhileWorkerDies loads the pages and kills one of two workers meanwhile. It returns the other one,
// which has taken all shards.
func (f *shardedFleet) loadWhileWorkerDies() *child {
	t := f.t
	t.Helper()
	sharded := []string{"--index-shards", "4", "--serve", "127.0.0.1:0"}
	one := f.worker("one", sharded...)
	two := f.worker("two", sharded...)
	load := startChild(t, "", f.args("loader", append([]string{"replay", "--workers", "2"}, f.crawl.files...)...)...)
	_ = load.Until("") // it has begun
	one.Kill()
	one.Wait()
	if status := load.ends(); status != 0 {
		t.Errorf("the loader: exit status %d: %s", status, load.Said())
	}
	t.Setenv("INDEXER_INDEX_SHARDS", "4")
	until(t, func() bool { // the other worker takes the shards of the one that was killed
		return !strings.Contains(runIndexer(t, f.args("reader", "query", "lighthouse")...), "incomplete")
	})
	if got := digest(t, f.args("reader")...); got != f.crawl.digest {
		t.Errorf("digest %s, and that of one process %s", got, f.crawl.digest)
	}
	return two
}

// searchWithoutDatabase searches while the database is away. When it is back, the last worker ends.
func (f *shardedFleet) searchWithoutDatabase(last *child) {
	t := f.t
	t.Helper()
	server := startServe(t, f.args("server", "serve")...)
	server.get("/readyz")
	f.postgres.Kill()
	last.Until("leases rest")
	if found := server.get("/api/query?q=lighthouse"); strings.Contains(found, "incomplete") {
		t.Errorf("while the database is away, a search finds: %s", found)
	}
	f.postgres.Restart(t)
	stopChild(t, last)
	until(t, func() bool { // no worker keeps a shard any more
		status, _ := server.do("/readyz", nil)
		return status != http.StatusOK
	})
	server.stop()
}

func (f *shardedFleet) searchWithoutShard(data string) {
	t := f.t
	t.Helper()
	out := runIndexer(t, append([]string{"--data", data, "query", "lighthouse"}, threeShardFlags(data)...)...)
	if !strings.Contains(out, "incomplete") || !strings.Contains(out, "shard 3 of 4") {
		t.Errorf("a shard is missing, and query says: %s", out)
	}
	server := startServe(t, append(f.args("server", "serve"), threeShardFlags(data)...)...)
	server.get("/")
	if page := server.get("/?q=lighthouse"); !strings.Contains(page, "The result is incomplete") {
		t.Errorf("a shard is missing, and the search page says: %s", page)
	}
	server.stop()
}

// searchMixedFiles searches undivided files next to a shard, before and after the index has become undivided.
func (f *shardedFleet) searchMixedFiles(data string) {
	t := f.t
	t.Helper()
	mixed := filepath.Join(f.dir, "mixed")
	for to, from := range map[string]string{repository.IndexDir(mixed): repository.IndexDir(f.crawl.data), repository.ShardDir(mixed, 0, 4): repository.ShardDir(data, 0, 4)} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	wantRefused(t, "either may be old", "--data", mixed, "query", "lighthouse")
	wantRefused(t, "divided into another number of shards: 4", f.args("mixed", "query", "--index-shards", "1", "lighthouse")...)
	stopChild(t, f.worker("single", "--index-shards", "1", "--reshard"))
	sameAnswers(t, "from one index", answers(t, "--data", filepath.Join(f.dir, "single")), f.merged)
	runIndexer(t, f.args("mixed", "query", "--index-shards", "1", "lighthouse")...) // now the shards are old
}

func sameAnswers(t *testing.T, where string, got, want []string) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: %s:\n got %s\nwant %s", where, shardQueries[i], got[i], want[i])
		}
	}
}

// threeShardFlags names the first three of four shards in a data directory.
func threeShardFlags(data string) (flags []string) {
	for i := range 3 {
		flags = append(flags, "--shard", repository.ShardDir(data, i, 4))
	}
	return flags
}

// TestShardsWithoutStore: while the store is away, a server searches the shards where they were.
func TestShardsWithoutStore(t *testing.T) {
	table, err := mem.New(repository.SharedGroups(), mem.Options{TwoPhaseOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	s := &shardSearch{app: &app{log: zap.NewNop()}, table: table}
	if _, err := s.shards(t.Context()); err == nil {
		t.Error("it finds shards that it never knew")
	}
	s.current, s.places = search.NewShards(nil), new(shardPlaces)
	if got, err := s.shards(t.Context()); err != nil || got != s.current {
		t.Errorf("it searches %v, %v", got, err)
	}
}

// TestShardPanics: a panic in a search of a shard of this machine is logged, and does not end the process.
func TestShardPanics(t *testing.T) {
	dir := t.TempDir()
	w, err := index.OpenWriter(t.Context(), dir, index.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	core, logged := observer.New(zap.ErrorLevel)
	s := &shardSearch{app: &app{log: zap.New(core)}}
	defer s.files.close()
	source, err := s.source(shardrpc.Shard{Number: 0, Of: 2}, shardPlace{dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	session, err := source.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	odd := &search.Question{Counts: []search.Matching{{Expr: &query.Expr{Op: query.OpOr}}}}
	if a, err := session.Ask(t.Context(), odd); err == nil || a != nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("%v, %v", a, err)
	}
	if list := logged.All(); len(list) != 1 || !strings.Contains(fmt.Sprint(list[0].ContextMap()["error"]), "goroutine ") {
		t.Errorf("logged %v, want the stack", list)
	}
}
