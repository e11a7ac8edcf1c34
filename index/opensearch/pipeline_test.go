package opensearch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/bench/relevancebench"
	"github.com/webindexer/indexer/cli"
	"github.com/webindexer/indexer/index/opensearch"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/opensearchtest"
)

// run runs a command of the program to its end.
func run(t *testing.T, args ...string) (out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := cli.Main(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	if status != 0 {
		t.Errorf("indexer %s: exit status %d: %s%s", strings.Join(args, " "), status, stdout.String(), stderr.String())
	}
	return stdout.String(), stderr.String()
}

// web returns a WARC file with the project's own small webs.
func web(t *testing.T) string {
	t.Helper()
	sites, err := filepath.Glob("../../testdata/sites/*.txt")
	if err != nil || len(sites) == 0 {
		t.Fatalf("no sites: %v", err)
	}
	file := filepath.Join(t.TempDir(), "web.warc.gz")
	run(t, append([]string{"pack", "-o", file}, sites...)...)
	return file
}

// hits returns what a query finds, without what differs between any two runs, and without the
// time since which a page can be found, which OpenSearch does not know.
func hits(t *testing.T, args ...string) map[string]any {
	t.Helper()
	out, _ := run(t, append(args, "--format", "json", "--limit", "20")...)
	var res map[string]any
	if err := json.Unmarshal([]byte(out), &res); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	delete(res, "took_ms")
	for _, h := range res["hits"].([]any) {
		hit := h.(map[string]any)
		delete(hit, "indexed_at")
		for _, number := range []string{"score", "rank"} { // ranks differ within their tolerance
			hit[number] = float64(int(hit[number].(float64)*20)) / 20
		}
	}
	return res
}

func digest(t *testing.T, args ...string) string {
	t.Helper()
	_, said := run(t, append(args, "export")...)
	_, line, _ := strings.Cut(said, "digest ")
	return line
}

var questions = []string{
	"lighthouse museum", "keeper", `"skerry rock"`, "lighthuose", "bread OR lamp", "site:skerryrock.example", "intitle:visit boat", "灯台", "lang:en after:2024-01",
	"the lamp and its lens", "filetype:html keeper -museum", "qwertzuiop", "before:2024-05 keeper",
}

// TestPipeline replays recorded webs into index files and into OpenSearch. Everything that
// the commands answer is the same. Then the index goes back to files, and to OpenSearch again.
func TestPipeline(t *testing.T) {
	server := opensearchtest.Shared(t)
	file := web(t)
	files := []string{"--data", filepath.Join(t.TempDir(), "files")}
	data := filepath.Join(t.TempDir(), "server")
	onServer := []string{"--data", data, "--index", "opensearch+" + server.URL + "/pipeline?replicas=0"}
	with := func(flags []string, more ...string) []string { return append(append([]string{}, flags...), more...) }
	run(t, with(files, "replay", "--workers", "1", file)...)
	run(t, with(onServer, "replay", "--workers", "1", file)...)
	if got, want := digest(t, onServer...), digest(t, files...); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	same := func() {
		t.Helper()
		for _, q := range questions {
			got, want := hits(t, with(onServer, "query", q)...), hits(t, with(files, "query", q)...)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("query %s finds on OpenSearch\n%v\nand in the files\n%v", q, got, want)
			}
		}
	}
	same()
	sameRelevance(t, onServer[3])
	clean := func(flags []string) {
		t.Helper()
		if _, said := run(t, with(flags, "verify")...); strings.Contains(said, "lost") {
			t.Errorf("an index that catches up with another one is not damaged: %s", said)
		}
		if out, _ := run(t, with(flags, "check")...); !strings.Contains(out, "144 in the index") {
			t.Errorf("check: %s", out)
		}
	}
	clean(onServer)
	if out, _ := run(t, with(onServer, "reindex")...); !strings.Contains(out, "144 documents") {
		t.Errorf("reindex: %s", out)
	}
	same()
	clean([]string{"--data", data}) // index files, which there were none of
	clean(onServer)
	if list := get(t, server.URL+"/_cat/indices/pipeline-*?h=index"); strings.TrimSpace(list) != "pipeline-000002" {
		t.Errorf("indices on the server: %q", list)
	}
	var refused bytes.Buffer // a store of its own, and the index of another
	other := append([]string{"--data", filepath.Join(t.TempDir(), "other")}, onServer[2:]...)
	if status := cli.Main(t.Context(), with(other, "replay", file), nil, &refused, &refused); status != 2 || !strings.Contains(refused.String(), "belongs to another repository") {
		t.Errorf("another store: status %d, %s", status, refused.String())
	}
	// A query does not open the store, but still notices, even if the store has an index of its own.
	elsewhere := append([]string{"--data", filepath.Join(t.TempDir(), "elsewhere")}, "--index", "opensearch+"+server.URL+"/elsewhere?replicas=0")
	run(t, with(elsewhere, "replay", file)...)
	for _, flags := range [][]string{other, append(elsewhere[:2:2], onServer[2:]...)} {
		refused.Reset()
		if status := cli.Main(t.Context(), with(flags, "query", "lighthouse"), nil, &refused, &refused); status != 2 || !strings.Contains(refused.String(), "belongs to another repository") {
			t.Errorf("query %v: status %d, %s", flags, status, refused.String())
		}
	}
	run(t, append([]string{"--data", filepath.Join(t.TempDir(), "none")}, with(onServer[2:], "query", "lighthouse")...)...) // without a store, any index
}

// sameRelevance asks for known items as `bench relevance --index` does.
func sameRelevance(t *testing.T, setting string) {
	t.Helper()
	a, err := opensearch.ParseAddress(setting)
	if err != nil {
		t.Fatal(err)
	}
	res, err := relevancebench.Run(t.Context(), relevancebench.Options{
		Server: &relevancebench.Server{Address: a}, Queries: 4, Seed: 1, Weights: search.DefaultWeights, PerHost: 2, Log: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Documents != 144 {
		t.Errorf("%d documents", res.Documents)
	}
	for _, k := range res.Kinds {
		if a := k.Agreement; k.Queries > 0 && (a == nil || a.SameTen != a.Queries || a.Requests < 3) {
			t.Errorf("%s: %+v", k.Kind, a)
		}
	}
	if left := get(t, strings.TrimPrefix(setting[:strings.LastIndex(setting, "/")], "opensearch+")+"/_cat/indices/*relevance*?h=index"); left != "" {
		t.Errorf("left on the server: %s", left)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		return "" // the server is down
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	return string(body)
}

// indexed returns how many writes the index "killed" has taken. Unlike a search, it does not
// wait for a refresh.
func indexed(t *testing.T, server string) int {
	var stats struct {
		All struct {
			Primaries struct {
				Indexing struct {
					Total int `json:"index_total"`
				} `json:"indexing"`
			} `json:"primaries"`
		} `json:"_all"`
	}
	if err := json.Unmarshal([]byte(get(t, server+"/killed/_stats/indexing")), &stats); err != nil {
		return 0 // the index does not exist yet
	}
	return stats.All.Primaries.Indexing.Total
}

// TestPipelineKilled kills the server while a replay exports, and starts it again: exports
// wait for it, and the documents are those of index files.
func TestPipelineKilled(t *testing.T) {
	server := opensearchtest.Shared(t)
	file := web(t)
	flags := []string{"--data", filepath.Join(t.TempDir(), "server"), "--index", "opensearch+" + server.URL + "/killed?replicas=0"}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(t, append(flags, "replay", file)...)
	}()
	for waiting := true; waiting && indexed(t, server.URL) < 10; { // an index that was just made has fewer
		select {
		case <-ended:
			t.Log("the replay has ended before the server could be killed")
			waiting = false
		case <-time.After(2 * time.Millisecond):
		}
	}
	server.Kill()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	<-ended
	run(t, append(flags, "wait")...)
	run(t, append(flags, "verify")...)
	if dead, _ := run(t, append(flags, "dead", "list")...); strings.Contains(dead, "index") {
		t.Errorf("observers gave up: %s", dead)
	}
}
